// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace flashpad::measure {

/// Of the repetitions of one measurement.
struct Summary {
  double median = 0;
  double min = 0;
  double spread = 0;  ///< (75th - 25th percentile) / median
};

/// `seconds` is not empty. Percentiles are interpolated between the two nearest ranks.
Summary summarise(std::vector<double> seconds);

}  // namespace flashpad::measure
