// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"
#include "measure/inputs.hpp"
#include "measure/sample.hpp"
#include "report/symptoms.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace flashpad::measure {

/// What the definition gives for the rows that are checked.
struct Expected {
  std::vector<QueryRow> rows;
  std::vector<double> o;            ///< rows x value_dim
  std::vector<double> lse;          ///< rows
  double value_max = 0;             ///< largest |V| that is finite and seen by some row
  double rounding_error = 0;        ///< 16-bit types: largest error of plain_row over the checked rows
  double score_rounding_error = 0;  ///< the same, of scores that were rounded too
  double output_max = 0;            ///< largest finite |O| of the checked rows
  double score_max = 0;             ///< largest |maximum of a row's scores| of the checked rows
  double sum_max = 0;               ///< largest sum of a row's exp(score - maximum) of the checked rows
};

/// What a kernel gave: O as it wrote it, and for each query row its LSE (for `stats`: max + log(sum)).
struct Outputs {
  std::vector<std::byte> o;  ///< compact, in the case's type and layout; empty for `stats`
  std::vector<double> lse;   ///< batch x heads x seq_q
};

struct Verdict {
  std::optional<double> max_abs_err, rel_err, tolerance;  ///< empty where there is no O
  double lse_max_err = 0;
  std::optional<std::string> worst;        ///< "b,h,i,c" of the largest error, "b,h,i" where it is in the LSE
  std::optional<report::Symptom> symptom;  ///< empty: verified
  std::string reason;                      ///< one line, for a failed verdict
  std::string note;                        ///< how much of the reference is not finite; empty where none is
};

/// Attention of one row in float64, but with P and O rounded to the 16-bit type, as any kernel for that type
/// has to. What it is off by is what the type costs.
/// `o_of_rounded_scores`, where not null: the same with scaled scores rounded to it too, as naive-vendor has
/// to.
void plain_row(Case const& one, Inputs const& inputs, QueryRow const& row, double* o,
               double* o_of_rounded_scores = nullptr);

Expected make_expected(Case const& one, Inputs const& inputs, std::vector<QueryRow> rows);

/// Largest |difference| allowed in O: 1e-12 (fp64) and 2e-5 (fp32) times max(1, value_max); for 16-bit types
/// twice rounding_error plus one unit in the last place of output_max, but never more than 2e-2 (fp16) or
/// 5e-2 (bf16) times max(1, value_max). naive-vendor stores scores in 16 bits and is held to
/// score_rounding_error in the place of rounding_error.
double tolerance(Kernel kernel, DType dtype, Expected const& expected);

/// Largest difference allowed in the LSE, relative to max(1, |lse|): 1e-12, 1e-5 (fp32) and 1e-3 (16-bit
/// types); naive-vendor's bf16 scores are off by up to 2^-9 of themselves, and its LSE may be by 2^-8.
double lse_tolerance(Kernel kernel, DType dtype);

/// Compares a kernel's outputs with what is expected. `tile` is what the kernel used, for the diagnosis.
/// Where the inputs are finite, all of O is searched for NaN, beyond the rows that are checked. NaN is right
/// where the reference has NaN, and an infinity where it has that one; where the reference has nothing else,
/// nothing was verified, and the verdict is a failed one.
Verdict verify(Case const& one, Inputs const& inputs, Expected const& expected, Outputs const& outputs,
               Tile const& tile);

}  // namespace flashpad::measure
