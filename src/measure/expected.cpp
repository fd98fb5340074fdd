// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/elements.hpp"
#include "measure/interrupt.hpp"
#include "measure/parallel.hpp"
#include "measure/verify.hpp"
#include "reference/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace flashpad::measure {

namespace {

double scale_of(Case const& one) {
  return one.scale.value_or(1 / std::sqrt(static_cast<double>(one.shape.head_dim)));
}

bool sees(Case const& one, std::int64_t i, std::int64_t j) {
  std::int64_t const distance = j - (i + one.shape.seq_k - one.shape.seq_q);
  return (one.mask.left == -1 || distance >= -one.mask.left) &&
         (one.mask.right == -1 || distance <= one.mask.right);
}

// The keys that the first or the last row sees, and all between: keys outside are hidden from every row.
double largest_visible_value(Case const& one, std::vector<double> const& v) {
  Shape const& s = one.shape;
  double largest = 0;
  for (std::int64_t j = 0; j < s.seq_k && s.seq_q > 0; ++j) {
    // The row on whose diagonal key j lies sees it whenever some row does, up to the ends of the sequence.
    std::int64_t const nearest = j - (s.seq_k - s.seq_q);
    if (!sees(one, std::clamp<std::int64_t>(nearest, 0, s.seq_q - 1), j)) continue;
    for (std::int64_t g = 0; g < s.batch * s.kv_heads; ++g) {
      double const* row = v.data() + (g * s.seq_k + j) * s.value_dim;
      for (std::int64_t c = 0; c < s.value_dim; ++c) {
        if (std::isfinite(row[c])) largest = std::max(largest, std::fabs(row[c]));
      }
    }
  }
  return largest;
}

// O of one row from its scores, with P and O rounded.
void weigh(Case const& one, QueryRow const& row, std::vector<double> const& scores, double const* v,
           double* o) {
  Shape const& s = one.shape;
  std::fill(o, o + s.value_dim, 0.0);
  double max = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < s.seq_k; ++j) {
    if (sees(one, row.i, j)) max = std::max(max, scores[static_cast<std::size_t>(j)]);
  }
  if (!std::isfinite(max)) return;
  double sum = 0;
  for (std::int64_t j = 0; j < s.seq_k; ++j) {
    if (!sees(one, row.i, j)) continue;
    double const p = std::exp(scores[static_cast<std::size_t>(j)] - max);
    sum += p;
    double const stored = rounded(p, one.dtype);
    for (std::int64_t c = 0; c < s.value_dim; ++c) o[c] += stored * v[j * s.value_dim + c];
  }
  for (std::int64_t c = 0; c < s.value_dim; ++c) o[c] = rounded(o[c] / sum, one.dtype);
}

}  // namespace

void plain_row(Case const& one, Inputs const& inputs, QueryRow const& row, double* o,
               double* o_of_rounded_scores) {
  Shape const& s = one.shape;
  std::int64_t const group = row.b * s.kv_heads + row.h / (s.heads / s.kv_heads);
  double const* q = inputs.q.data() + ((row.b * s.heads + row.h) * s.seq_q + row.i) * s.head_dim;
  double const* k = inputs.k.data() + group * s.seq_k * s.head_dim;
  double const* v = inputs.v.data() + group * s.seq_k * s.value_dim;
  double const scale = scale_of(one);

  std::vector<double> scores(static_cast<std::size_t>(s.seq_k), -std::numeric_limits<double>::infinity());
  for (std::int64_t j = 0; j < s.seq_k; ++j) {
    if (!sees(one, row.i, j)) continue;
    double dot = 0;
    for (std::int64_t c = 0; c < s.head_dim; ++c) dot += q[c] * k[j * s.head_dim + c];
    scores[static_cast<std::size_t>(j)] = scale * dot;
  }
  weigh(one, row, scores, v, o);
  if (o_of_rounded_scores == nullptr) return;
  for (double& score : scores) score = rounded(score, one.dtype);
  weigh(one, row, scores, v, o_of_rounded_scores);
}

Expected make_expected(Case const& one, Inputs const& inputs, std::vector<QueryRow> rows) {
  Shape const& s = one.shape;
  Expected expected;
  expected.rows = std::move(rows);
  auto const count = static_cast<std::int64_t>(expected.rows.size());
  expected.o.resize(static_cast<std::size_t>(count * s.value_dim));
  expected.lse.resize(static_cast<std::size_t>(count));
  ReferenceProblem const problem = {.shape = s,
                                    .mask = one.mask,
                                    .scale = scale_of(one),
                                    .q = inputs.q.data(),
                                    .k = inputs.k.data(),
                                    .v = inputs.v.data()};
  std::mutex lock;
  parallel_ranges(count, 1, [&](std::int64_t r, std::int64_t) {
    stop_if_interrupted();
    QueryRow const& row = expected.rows[static_cast<std::size_t>(r)];
    double* o = expected.o.data() + r * s.value_dim;
    double max = 0;
    double sum = 0;
    reference_row(problem, row.b, row.h, row.i, o, &expected.lse[static_cast<std::size_t>(r)], &max, &sum);

    double error = 0;
    double score_error = 0;
    double largest = 0;
    std::vector<double> plain;
    std::vector<double> of_scores;
    if (size_of(one.dtype) == 2) {
      plain.resize(static_cast<std::size_t>(s.value_dim));
      of_scores.resize(plain.size());
      plain_row(one, inputs, row, plain.data(), of_scores.data());
    }
    for (std::int64_t c = 0; c < s.value_dim; ++c) {
      if (!std::isfinite(o[c])) continue;
      largest = std::max(largest, std::fabs(o[c]));
      if (plain.empty()) continue;
      error = std::max(error, std::fabs(plain[static_cast<std::size_t>(c)] - o[c]));
      score_error = std::max(score_error, std::fabs(of_scores[static_cast<std::size_t>(c)] - o[c]));
    }
    std::lock_guard const hold(lock);
    expected.rounding_error = std::max(expected.rounding_error, error);
    expected.score_rounding_error = std::max(expected.score_rounding_error, score_error);
    expected.output_max = std::max(expected.output_max, largest);
    if (std::isfinite(max)) expected.score_max = std::max(expected.score_max, std::fabs(max));
    if (std::isfinite(sum)) expected.sum_max = std::max(expected.sum_max, sum);
  });
  expected.value_max = largest_visible_value(one, inputs.v);
  return expected;
}

}  // namespace flashpad::measure
