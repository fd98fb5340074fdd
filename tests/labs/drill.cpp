// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "labs/drill.hpp"

#include "measure/backend.hpp"
#include "measure/elements.hpp"
#include "measure/inputs.hpp"
#include "measure/verify.hpp"
#include "reference/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace flashpad::labs {

namespace {

std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n); }

std::vector<double> widened(std::vector<float> const& values) { return {values.begin(), values.end()}; }

void expect(Input& input) {
  Problem const& p = input.problem;
  Shape const& s = p.shape;
  std::vector<double> const q = widened(p.q);
  std::vector<double> const k = widened(p.k);
  std::vector<double> const v = widened(p.v);
  ReferenceProblem const reference{s, p.mask, p.scale, q.data(), k.data(), v.data()};
  std::int64_t const rows = s.batch * s.heads * s.seq_q;
  input.o.resize(index(rows * s.value_dim));
  input.lse.resize(index(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t const head = row / s.seq_q;
    reference_row(reference, head / s.heads, head % s.heads, row % s.seq_q,
                  input.o.data() + row * s.value_dim, input.lse.data() + row, nullptr, nullptr);
  }
  for (double const value : v) input.value_max = std::max(input.value_max, std::abs(value));
}

/// By the same path as `flashpad run`.
Result run_library(Problem const& p) {
  measure::Backend& place = measure::backend(measure::resolve_backend("auto"));
  Options options;
  options.mask = p.mask;
  options.scale = p.scale;
  options.kernel = Kernel::fused;
  auto const runner = place.prepare({p.shape, DType::fp32, Layout::bhnd, options, 1});
  auto const packed = [](std::vector<float> const& values, measure::Extents const& extents) {
    return measure::pack(widened(values), extents, DType::fp32, Layout::bhnd);
  };
  std::vector<std::byte> const q = packed(p.q, measure::extents_of_q(p.shape));
  std::vector<std::byte> const k = packed(p.k, measure::extents_of_k(p.shape));
  std::vector<std::byte> const v = packed(p.v, measure::extents_of_v(p.shape));
  runner->load(q, k, v);
  runner->fill_outputs_with_nan();
  runner->call(0, true);
  runner->fence();
  measure::Outputs const outputs = runner->fetch();
  std::vector<double> const o =
      measure::unpack(outputs.o, measure::extents_of_o(p.shape), DType::fp32, Layout::bhnd);
  Result result;
  result.o.assign(o.begin(), o.end());
  result.lse.assign(outputs.lse.begin(), outputs.lse.end());
  return result;
}

// Where both are the same infinity there is no difference.
double difference(double found, double expected) {
  return found == expected ? 0 : std::abs(found - expected);
}

void compare_row(Trial const& trial, Result const& result, std::int64_t row, Finding& finding) {
  constexpr double lse_tolerance = 1e-5;  // relative to max(1, |lse|)
  Input const& input = *trial.input;
  std::int64_t const columns = input.problem.shape.value_dim;
  double error = 0;
  bool nan = false;
  for (std::int64_t c = row * columns; c < (row + 1) * columns; ++c) {
    double const found = difference(result.o[index(c)], input.o[index(c)]);
    nan = nan || std::isnan(found);
    if (!std::isnan(found)) error = std::max(error, found);
  }
  double const lse = input.lse[index(row)];
  double const lse_error =
      difference(result.lse[index(row)], lse) / std::max(1.0, std::isinf(lse) ? 1.0 : std::abs(lse));
  nan = nan || std::isnan(lse_error);
  // An O that is wrong speaks for itself; a lazy tolerance on O is one on the LSE too.
  bool const lse_wrong = lse_error > std::max(lse_tolerance, trial.tolerance == tolerance_fp32 ? 0.0 : 1.0);
  finding.max_error = std::max(finding.max_error, error);
  bool const off = nan || lse_wrong || error > trial.tolerance * input.value_max;
  if (!off) return;
  if (finding.rows_off++ == 0) finding.first_row_off = row;
  Outcome const outcome = nan ? Outcome::nan : Outcome::finite_but_wrong;
  if (finding.outcome != Outcome::nan) finding.outcome = outcome;
}

}  // namespace

std::string_view name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::passed: return "PASSED";
    case Outcome::nan: return "FAIL: NaN";
    case Outcome::finite_but_wrong: return "FAIL: finite but wrong";
  }
  return "?";
}

std::shared_ptr<Input const> make_input(std::string label, Case const& one, Tile tile,
                                        std::function<void(Problem&)> const& change) {
  measure::Inputs const drawn = measure::make_inputs(one);
  auto input = std::make_shared<Input>();
  input->label = std::move(label);
  Problem& p = input->problem;
  p.shape = one.shape;
  p.mask = one.mask;
  p.scale = static_cast<float>(one.scale.value_or(1 / std::sqrt(static_cast<double>(one.shape.head_dim))));
  p.tile = tile;
  auto const narrow = [](std::vector<double> const& values) {
    std::vector<float> narrowed;
    for (double const value : values) narrowed.push_back(static_cast<float>(value));
    return narrowed;
  };
  p.q = narrow(drawn.q);
  p.k = narrow(drawn.k);
  p.v = narrow(drawn.v);
  if (change) change(p);
  expect(*input);
  return input;
}

Finding judge(Trial const& trial) {
  Problem const& problem = trial.input->problem;
  Result const result = trial.variant ? run(problem, *trial.variant) : run_library(problem);
  Finding finding;
  std::int64_t const rows = problem.shape.batch * problem.shape.heads * problem.shape.seq_q;
  for (std::int64_t row = 0; row < rows; ++row) compare_row(trial, result, row, finding);
  if (trial.variant) {
    finding.visited = static_cast<double>(result.tiles_visited) / static_cast<double>(all_tiles(problem));
  }
  bool const visits = !trial.visited || std::abs(*trial.visited - finding.visited.value_or(0)) < 1e-12;
  finding.as_expected = finding.outcome == trial.expected && visits;
  return finding;
}

std::string line(Trial const& trial, Finding const& finding) {
  std::string text =
      fmt::format("  {:<29} {:<29} {}", trial.label, trial.input->label, name(finding.outcome));
  if (finding.rows_off > 0) {
    text += fmt::format(" in {} of {} rows", finding.rows_off, trial.input->lse.size());
  }
  if (finding.outcome == Outcome::nan) text += fmt::format(", first {}", finding.first_row_off);
  if (finding.outcome == Outcome::passed) text += fmt::format(", error {:.1e}", finding.max_error);
  if (finding.outcome == Outcome::finite_but_wrong) text += fmt::format(", by {:.1e}", finding.max_error);
  if (finding.outcome == Outcome::passed && trial.tolerance != tolerance_fp32)
    text += fmt::format(", bound {:.1e}", trial.tolerance * trial.input->value_max);
  if (trial.visited && finding.visited) text += fmt::format(", visits {:.4f}", *finding.visited);
  if (!finding.as_expected) text += fmt::format("  UNEXPECTED: {} expected", name(trial.expected));
  text += '\n';
  if (finding.as_expected && !trial.lesson.empty()) text += fmt::format("      {}\n", trial.lesson);
  return text;
}

}  // namespace flashpad::labs
