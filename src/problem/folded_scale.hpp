// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

namespace flashpad {

/// A scale as kernels take it that count in powers of two in float32: weights are 2^(factor * sign * q . k).
/// The factor is positive, so that the greatest product has the greatest score; the sign goes into products.
struct FoldedScale {
  float factor = 1;  ///< |scale| * log2(e)
  float sign = 1;

  /// A factor that rounds to 0 is taken as a scale of 0 is, by the sign: a hidden key's -infinity times 0
  /// would be NaN.
  static FoldedScale of(double scale) {
    auto const factor = static_cast<float>(std::fabs(scale) * 1.4426950408889634);
    if (factor == 0) return {1, 0};
    return {factor, scale < 0 ? -1.0f : 1.0f};
  }
};

}  // namespace flashpad
