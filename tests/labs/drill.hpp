// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"
#include "labs/lab_kernel.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flashpad::labs {

enum class Outcome : std::uint8_t { passed, nan, finite_but_wrong };

std::string_view name(Outcome outcome) noexcept;

/// Inputs with what the float64 reference makes of them.
struct Input {
  std::string label;
  Problem problem;
  std::vector<double> o, lse;  ///< expected
  double value_max = 1;        ///< largest |V|, at least 1
};

/// Generates Q, K and V of a case; `change` may put others in their place before the reference sees them.
std::shared_ptr<Input const> make_input(std::string label, Case const& one, Tile tile,
                                        std::function<void(Problem&)> const& change = {});

/// The bound of the suite for float32, times max(1, largest |V|).
constexpr double tolerance_fp32 = 2e-5;

/// One variant on one input.
struct Trial {
  std::string label;  ///< of the variant
  std::shared_ptr<Input const> input;
  /// Empty: the library's own fused kernel, on the backend that `auto` is.
  std::optional<Variant> variant;
  Outcome expected = Outcome::passed;
  bool exercise = true;  ///< else a solution
  double tolerance = tolerance_fp32;
  std::optional<double> visited;  ///< exact share of all tiles that it has to visit
  std::string lesson;             ///< one line, printed where it ends as expected
};

struct Finding {
  Outcome outcome = Outcome::passed;
  double max_error = 0;       ///< over the elements that are numbers
  std::int64_t rows_off = 0;  ///< with a NaN, or above the tolerance
  std::int64_t first_row_off = -1;
  std::optional<double> visited;  ///< share of all tiles
  bool as_expected = false;
};

/// Runs and judges a trial, O and LSE, against the reference.
Finding judge(Trial const& trial);

/// One line: what ran on what, PASSED or FAIL, how, and whether that was expected.
std::string line(Trial const& trial, Finding const& finding);

/// A drill: trials in the order they are shown.
struct Drill {
  std::string title;
  std::vector<Trial> trials;
  std::function<std::string()> timings;  ///< may be empty; measured, never judged
};

Drill masking_drill();
Drill causal_drill();
Drill rescale_drill();

}  // namespace flashpad::labs
