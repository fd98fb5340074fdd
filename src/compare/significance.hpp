// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <vector>

// Could chance alone have made two medians this different? Two-sided probabilities. They know the noise
// inside a run, not what differs from one run to the next.

namespace flashpad::compare {

/// The Mann-Whitney U test: exact for up to 40 samples without ties, else by the normal approximation with
/// corrections for ties and continuity. Neither is empty.
double mann_whitney(std::vector<double> const& a, std::vector<double> const& b);

/// The least that mann_whitney can give for so many samples: 3 and 3 can never say less than 0.1.
double least_probability(std::size_t a, std::size_t b);

/// What is known of samples that were not kept.
struct Quartiles {
  double median = 0;
  double spread = 0;  ///< (75th - 25th percentile) / median
  int repetitions = 0;
};

/// From quartiles alone, taking the samples for normal: the standard error of a median is 1.2533 deviations /
/// sqrt(n), and a deviation the distance between quartiles / 1.349. Both have repetitions.
double median_test(Quartiles const& a, Quartiles const& b);

}  // namespace flashpad::compare
