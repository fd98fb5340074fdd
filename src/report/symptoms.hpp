// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

namespace flashpad::report {

/// What a failed row looks like from outside.
enum class Symptom : std::uint8_t {
  nan,               ///< NaN, or an element never written, where the reference has a number
  wrong_at_tail,     ///< every wrong element lies in the last, partial tile
  overflow,          ///< O is not finite, and values are near the largest number of the accumulator
  scores_rounded,    ///< no more wrong than rounding the scores to their type explains
  finite_but_wrong,  ///< anything else that is wrong
  lse_wrong,         ///< O is right and LSE is not
  nothing_finite,    ///< the reference has no number to compare with
  not_reproducible,  ///< two calls on the same inputs differ
  causal_no_faster,  ///< correct, and a causal mask saves no time
  slower_than_expected
};

/// The usual cause of a symptom and where to look first, as one clause.
std::string_view likely_cause(Symptom symptom);

}  // namespace flashpad::report
