// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/session.hpp"

#include "model/counts.hpp"
#include "model/roofline.hpp"
#include "report/symptoms.hpp"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <utility>

namespace flashpad::measure {

namespace {

// Bytes that one pass touches again and again: the naive kernels work through their heads with one workspace,
// the others through all of their arguments.
double working_set(Case const& one, Choice const& choice, double io) {
  if (!stores_scores(choice.kernel)) return io + choice.workspace_bytes;
  auto const heads = static_cast<double>(one.shape.batch * one.shape.heads);
  return heads > 0 ? io / heads + choice.workspace_bytes : 0;
}

std::string key_of(Case const& one, Row const& row) { return one.problem_key + '\n' + row.backend; }

// The same kernel, unmasked, on the same backend: what a causal row should be faster than.
double unmasked_median(std::vector<Case> const& cases, std::vector<Row> const& rows, std::size_t causal) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    bool const twin = cases[r].mask.is_none() && cases[r].shape == cases[causal].shape &&
                      cases[r].dtype == cases[causal].dtype && cases[r].layout == cases[causal].layout &&
                      rows[r].kernel == rows[causal].kernel && rows[r].backend == rows[causal].backend;
    if (twin && rows[r].median_s) return *rows[r].median_s;
  }
  return 0;
}

}  // namespace

model::Work work_of(Case const& one) {
  return {.shape = one.shape,
          .mask = one.mask,
          .dtype = one.dtype,
          .writes_lse = false,
          .probabilities_in_input_type = one.probabilities_in_input_type,
          .skip_hidden_tiles = one.skip_hidden_tiles};
}

void rate(Case const& one, Choice const& choice, Row& row) {
  model::Work const work = work_of(one);
  double const flops = model::flops(choice.kernel, work);
  double const bytes = model::bytes_model(choice.kernel, work);
  row.flops = flops;
  row.bytes_model = bytes;
  row.bytes_tiles = model::bytes_tiles(choice.kernel, work, choice.tile, choice.heads_per_tile);
  row.byte_ratio = model::byte_ratio(choice.kernel, work);
  if (!row.median_s || *row.median_s <= 0) return;
  row.tflops = flops / *row.median_s / 1e12;
  if (flops > 0 && bytes > 0) row.intensity = flops / bytes;
}

void put_under_roof(Case const& one, Choice const& choice, Backend& place, Row& row,
                    std::optional<double> memory_limit) {
  if (!row.intensity) return;
  double const flops = *row.flops;
  double const bytes = *row.bytes_model;
  model::Peaks peaks;
  try {
    peaks = place.peaks({one.dtype, choice.engine, memory_limit});
  } catch (std::exception const& error) {  // the time stands without a roof over it
    std::string const text = error.what();
    add_note(row, "no roof, as the peaks could not be measured: " + text.substr(0, text.find('\n')));
    return;
  }
  model::Roof const roof = model::roof(flops, bytes, peaks);
  row.roof = roof.name();
  row.roof_fraction = flops / *row.median_s / roof.attainable;
  double const io = model::io_bytes(choice.kernel, work_of(one));
  row.flag =
      model::flag(flops, bytes, *row.median_s, working_set(one, choice, io), place.last_level_cache(), peaks);
}

void join(std::vector<Case> const& cases, std::vector<Row>& rows) {
  std::map<std::string, double> naive;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].kernel == name(Kernel::naive) && rows[r].median_s) {
      naive.emplace(key_of(cases[r], rows[r]), *rows[r].median_s);
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    auto const found = naive.find(key_of(cases[r], rows[r]));
    if (found == naive.end() || !rows[r].median_s || rows[r].kernel == name(Kernel::stats)) continue;
    rows[r].speedup_vs_naive = found->second / *rows[r].median_s;
  }
}

void check_speedups(std::vector<Case> const& cases, double expected, std::vector<Row>& rows) {
  constexpr double no_faster = 0.9;  // skipping half of the keys should show by more than this
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Row& row = rows[r];
    if (row.kernel != name(Kernel::fused) || row.status != Status::ok || !row.speedup_vs_naive) continue;
    if (*row.speedup_vs_naive >= expected) continue;
    double const unmasked = cases[r].mask.is_causal() ? unmasked_median(cases, rows, r) : 0;
    auto const symptom = unmasked > 0 && *row.median_s > no_faster * unmasked
                             ? report::Symptom::causal_no_faster
                             : report::Symptom::slower_than_expected;
    row.status = Status::failed;
    add_cause(row, fmt::format("{:.2f}x naive, expected {:.2f}x; likely cause: {}", *row.speedup_vs_naive,
                               expected, report::likely_cause(symptom)));
  }
}

}  // namespace flashpad::measure
