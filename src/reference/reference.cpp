// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/reference.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace flashpad {

void reference_row(ReferenceProblem const& problem, std::int64_t b, std::int64_t h, std::int64_t i, double* o,
                   double* lse, double* max, double* sum) {
  Shape const& s = problem.shape;
  std::int64_t const g = h / (s.heads / s.kv_heads);
  double const* query = problem.q + ((b * s.heads + h) * s.seq_q + i) * s.head_dim;
  double const* keys = problem.k + (b * s.kv_heads + g) * s.seq_k * s.head_dim;

  auto const visible = [&](std::int64_t j) {
    std::int64_t const from_diagonal = j - (i + s.seq_k - s.seq_q);
    bool const left_ok = problem.mask.left < 0 || from_diagonal >= -problem.mask.left;
    bool const right_ok = problem.mask.right < 0 || from_diagonal <= problem.mask.right;
    return left_ok && right_ok;
  };

  // A NaN score stays NaN in every sum below; std::max would drop it, which is right for the maximum.
  std::vector<double> score(static_cast<std::size_t>(s.seq_k));
  double m = -std::numeric_limits<double>::infinity();
  bool sees_nan = false;
  for (std::int64_t j = 0; j < s.seq_k; ++j) {
    if (!visible(j)) continue;
    double dot = 0;
    for (std::int64_t c = 0; c < s.head_dim; ++c) dot += query[c] * keys[j * s.head_dim + c];
    double const value = problem.scale * dot;
    score[static_cast<std::size_t>(j)] = value;
    if (std::isnan(value)) sees_nan = true;
    if (value > m) m = value;
  }

  bool const empty = m == -std::numeric_limits<double>::infinity() && !sees_nan;
  double l = 0;
  if (!empty) {
    for (std::int64_t j = 0; j < s.seq_k; ++j) {
      if (visible(j)) l += std::exp(score[static_cast<std::size_t>(j)] - m);
    }
  }
  if (lse != nullptr) *lse = empty ? m : m + std::log(l);
  if (max != nullptr) *max = m;
  if (sum != nullptr) *sum = l;
  if (o == nullptr || problem.v == nullptr) return;

  for (std::int64_t c = 0; c < s.value_dim; ++c) o[c] = 0;
  if (empty) return;
  double const* values = problem.v + (b * s.kv_heads + g) * s.seq_k * s.value_dim;
  for (std::int64_t j = 0; j < s.seq_k; ++j) {
    if (!visible(j)) continue;
    double const p = std::exp(score[static_cast<std::size_t>(j)] - m) / l;
    for (std::int64_t c = 0; c < s.value_dim; ++c) o[c] += p * values[j * s.value_dim + c];
  }
}

}  // namespace flashpad
