// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/symptoms.hpp"

namespace flashpad::report {

std::string_view likely_cause(Symptom symptom) {
  switch (symptom) {
    case Symptom::nan:
      return "exp(-inf + inf) in a tile that is hidden whole, or an output element never written: guard the "
             "running maximum until a row has seen a key";
    case Symptom::wrong_at_tail:
      return "the bounds mask or the loop bound of the last, partial tile: padding keys do not exist, they "
             "are "
             "not zeros; try a length that is no multiple of the tile";
    case Symptom::overflow:
      return "the accumulator overflowed: weights are summed before they are normalised, and values are near "
             "the "
             "largest number of the type that it adds in";
    case Symptom::scores_rounded:
      return "none but large scores in the type that they are computed in, which may explain it alone; try a "
             "smaller scale, or dtype: fp64";
    case Symptom::finite_but_wrong:
      return "a missing or misplaced rescale: both the sum and the accumulator take exp(m_old - m_new) when "
             "the "
             "maximum moves; try distribution: unbalanced";
    case Symptom::lse_wrong:
      return "the sum is not rescaled, or was rounded to the type of the inputs: m + log(l) needs both in "
             "full "
             "precision";
    case Symptom::nothing_finite:
      return "NaN or an infinity in the inputs, where every row meets it, or scores beyond float64";
    case Symptom::not_reproducible:
      return "a race between tiles, or an order of summation that depends on the schedule";
    case Symptom::causal_no_faster:
      return "masked without skipping: bound the loop over keys at the last one that the query tile sees";
    case Symptom::slower_than_expected:
      return "a sequence too short to win, or a tile whose accumulator spills: shrink the tile and compare "
             "roof_fraction";
  }
  return "";
}

}  // namespace flashpad::report
