// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/fusing.hpp"

namespace flashpad::model {

namespace {

double intensity(Kernel kernel, Work const& work, std::int64_t n) {
  Work const here = at_length(work, n);
  return flops(kernel, here) / bytes_model(kernel, here);
}

constexpr std::int64_t longest = std::int64_t{1} << 24;  // counting visible pairs takes a step a query

}  // namespace

Work at_length(Work const& work, std::int64_t n) {
  Work other = work;
  if (work.shape.seq_q == work.shape.seq_k) other.shape.seq_q = n;
  other.shape.seq_k = n;
  return other;
}

std::optional<std::int64_t> compute_bound_from(Kernel kernel, Work const& work, double ridge) {
  // Intensity grows with the length, or grows and then falls (unfused behind a window): where it is enough at
  // the end it is so from one length on, which is found by halving.
  if (intensity(kernel, work, longest) < ridge) return std::nullopt;
  std::int64_t below = 0;
  std::int64_t above = longest;
  while (above - below > 1) {
    std::int64_t const middle = below + (above - below) / 2;
    (intensity(kernel, work, middle) < ridge ? below : above) = middle;
  }
  return above;
}

std::optional<double> intensity_limit(Kernel kernel, Work const& work) {
  if (!stores_scores(kernel)) return std::nullopt;
  // Behind a window a row sees a fixed number of keys, and all of its scores are stored.
  if (work.mask.left >= 0) return 0;
  return intensity(kernel, work, longest);
}

}  // namespace flashpad::model
