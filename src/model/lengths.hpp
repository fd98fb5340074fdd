// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

namespace flashpad::model {

/// The first length N whose N x N scores of one head, of `score_bytes` each, take more than `bytes`.
inline std::int64_t length_past(double bytes, double score_bytes) {
  auto n = static_cast<std::int64_t>(std::sqrt(bytes / score_bytes));
  // The root is rounded: the answer is beside it.
  while (n > 0 && static_cast<double>(n) * static_cast<double>(n) * score_bytes > bytes) --n;
  while (static_cast<double>(n) * static_cast<double>(n) * score_bytes <= bytes) ++n;
  return n;
}

}  // namespace flashpad::model
