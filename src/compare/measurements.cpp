// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/measurements.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace flashpad::compare {

namespace {

Measurement of_row(results::Entry const& entry) {
  Row const& row = entry.row;
  Measurement m;
  m.name = row.case_name;
  m.facts = entry.facts;
  m.status = std::string(name(row.status));
  m.samples = row.samples_s;
  m.repetitions = row.samples_s.empty() ? row.repetitions : static_cast<int>(row.samples_s.size());
  if (!entry.spread_of_rounds) m.spread = row.spread;
  if (row.status != Status::ok) return m;  // a wrong result has no time worth comparing
  m.seconds = row.median_s;
  if (!m.seconds) m.status = "not timed";
  return m;
}

Measurement of_search(results::Search const& search) {
  Measurement m;
  m.name = search.kernel.empty() ? search.case_name : search.case_name + "_" + search.kernel;
  m.facts = search.facts;
  m.seconds = search.winner_median_s;
  m.status = m.seconds ? "ok" : search.status;
  return m;
}

// Adds a fact to the names that several rows have.
void tell_apart(std::vector<Measurement>& rows, char const* fact) {
  std::map<std::string, std::size_t> count;
  for (Measurement const& row : rows) ++count[row.name];
  for (Measurement& row : rows) {
    auto const found = row.facts.find(fact);
    if (count[row.name] > 1 && found != row.facts.end()) row.name += "_" + found->second;
  }
}

}  // namespace

Measurements measurements(results::ResultFile const& file) {
  Measurements of;
  of.label = file.path.string();
  of.writer = file.format;
  of.context = file.context;
  for (results::Entry const& entry : file.entries) of.rows.push_back(of_row(entry));
  std::vector<Measurement> searches;
  for (results::Search const& search : file.searches) searches.push_back(of_search(search));
  for (char const* fact : {"backend", "engine"}) tell_apart(searches, fact);
  std::move(searches.begin(), searches.end(), std::back_inserter(of.rows));
  return of;
}

}  // namespace flashpad::compare
