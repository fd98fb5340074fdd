// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/context_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>

namespace flashpad::compare {

namespace {

using Json = nlohmann::json;

constexpr double same_within = 0.05;

// Differs between any two runs, or says how it was asked for and not where it ran.
bool is_of_the_run(std::string const& name) {
  static std::set<std::string> const names = {
      "date",       "command",   "memory_free_bytes",   "load_avg",   "experiment",   "interrupted",
      "executable", "host_name", "json_schema_version", "crossovers", "tuning_cache", "profilers"};
  return names.contains(name);
}

// Google Benchmark keeps all that the driver adds as text. Text of a hostile file may nest without end: each
// level below the first is a bracket more than the driver writes.
Json opened(Json const& value) {
  constexpr std::ptrdiff_t most_brackets = 4096;
  if (!value.is_string()) return value;
  std::string const& text = value.get_ref<std::string const&>();
  auto const brackets = std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{'; });
  if (brackets > most_brackets) return value;
  Json inner = Json::parse(text, nullptr, false);
  return inner.is_discarded() ? value : inner;
}

std::string shown(Json const& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Two levels are all that a context has; what lies deeper is one fact.
void flatten(Json const& context, std::string const& prefix, std::map<std::string, Json>& facts) {
  for (auto const& [key, kept] : context.items()) {
    Json const value = opened(kept);
    std::string const name = prefix + key;
    if (is_of_the_run(name)) continue;
    bool const list_of_objects = value.is_array() && !value.empty() && value.front().is_object();
    if (prefix.empty() && list_of_objects) {
      for (Json const& entry : value) {
        auto const label = entry.is_object() ? entry.find("name") : entry.end();
        bool const named = entry.is_object() && label != entry.end() && label->is_string();
        if (named) flatten(entry, name + "." + label->get<std::string>() + ".", facts);
      }
    } else if (prefix.empty() && value.is_object()) {
      flatten(value, name + ".", facts);
    } else {
      facts[name] = value;
    }
  }
}

bool same(Json const& a, Json const& b) {
  if (a.is_number() && b.is_number()) {
    double const x = a.get<double>();
    double const y = b.get<double>();
    bool const measured = a.is_number_float() || b.is_number_float();
    return measured ? std::abs(x - y) <= same_within * std::max(std::abs(x), std::abs(y)) : x == y;
  }
  return a == b;
}

}  // namespace

std::vector<Difference> differences(std::vector<Measurements> const& files) {
  std::vector<std::map<std::string, Json>> facts(files.size());
  std::vector<std::string> names;  // in alphabetical order, file by file
  std::set<std::string> seen;
  for (std::size_t f = 0; f < files.size(); ++f) {
    flatten(files[f].context, "", facts[f]);
    for (auto const& [name, value] : facts[f]) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  bool const one_writer = std::all_of(files.begin(), files.end(), [&](Measurements const& file) {
    return file.writer == files.front().writer;
  });
  std::vector<Difference> found;
  for (std::string const& name : names) {
    bool differs = false;
    bool everywhere = true;
    Difference difference{name, {}};
    for (auto const& of_file : facts) {
      auto const here = of_file.find(name);
      bool const told = here != of_file.end() && !here->second.is_null();
      everywhere = everywhere && told;
      difference.values.push_back(told ? shown(here->second) : "-");
      auto const first = facts.front().find(name);
      if (&of_file == &facts.front()) continue;
      bool const told_first = first != facts.front().end() && !first->second.is_null();
      differs = differs || told != told_first || (told && !same(first->second, here->second));
    }
    // Another writer keeps other facts: that is no difference between the machines.
    if (differs && (one_writer || everywhere)) found.push_back(std::move(difference));
  }
  return found;
}

}  // namespace flashpad::compare
