// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace flashpad::measure {

namespace {

double percentile(std::vector<double> const& sorted, double fraction) {
  double const rank = fraction * static_cast<double>(sorted.size() - 1);
  auto const below = static_cast<std::size_t>(std::floor(rank));
  std::size_t const above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - std::floor(rank)) * (sorted[above] - sorted[below]);
}

}  // namespace

Summary summarise(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  Summary summary;
  summary.median = percentile(seconds, 0.5);
  summary.min = seconds.front();
  if (summary.median > 0) {
    summary.spread = (percentile(seconds, 0.75) - percentile(seconds, 0.25)) / summary.median;
  }
  return summary;
}

}  // namespace flashpad::measure
