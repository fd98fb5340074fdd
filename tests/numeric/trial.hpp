// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include <flashpad/types.hpp>

#include "measure/inputs.hpp"
#include "measure/verify.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

// One call of a kernel on inputs made to break it, held against the float64 reference. Tensors lie in buffers
// of the test's own, with poisoned gaps and guards, so that a stray write shows.

namespace flashpad::test {

/// A way to compute attention: what the suites run over.
struct Way {
  std::string backend;
  Kernel kernel = Kernel::fused;
  std::string engine;
  DType dtype = DType::fp32;
};

std::ostream& operator<<(std::ostream& to, Way const& way);
std::string name_of(testing::TestParamInfo<Way> const& info);

/// Every backend, kernel and engine of this build and machine, in every element type.
std::vector<Way> all_ways();
/// As all_ways, but one element type.
std::vector<Way> ways_in(DType dtype);
/// For suites about masks, which no type changes: every backend, kernel and engine in one type that it has.
std::vector<Way> ways_for_masks();

/// How the tensors lie in memory.
struct Placement {
  Layout layout = Layout::bhnd;
  std::int64_t row_gap = 0;   ///< poisoned elements after each row
  std::int64_t head_gap = 0;  ///< poisoned elements after each head (bhnd) or row of heads (bnhd)
  std::int64_t base = 0;      ///< elements that the data starts after an aligned address
};

struct Trial {
  Shape shape;
  Mask mask;
  std::optional<double> scale;
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;
  Tile tile;
  int team_size = 0;
  int stages = 0;
  int splits = 0;
  bool skip_hidden_tiles = true;
  bool probabilities_in_input_type = false;
  double workspace_limit = 0;
  Placement placement;
  bool with_lse = true;
  /// Changes the generated inputs before the kernel and the reference see them.
  std::function<void(Shape const&, measure::Inputs&)> edit;
};

/// What came out: `outputs` as the verification takes it, and any damage outside the elements.
struct Result {
  measure::Outputs outputs;
  Choice choice;
  bool guards_intact = true;
  bool refused = false;
};

measure::Inputs make_inputs(Way const& way, Trial const& trial);
Result run(Way const& way, Trial const& trial, measure::Inputs const& inputs);

/// Runs the trial and expects every row within the tolerance of docs/experiments.md's promises, no unwritten
/// element and no damage; or that the way refuses a trial which it may refuse: then the result is empty.
/// Returns the result for more checks.
Result expect_right(Way const& way, Trial const& trial);

/// Whether the way takes a tile and splits.
bool has_tiles(Way const& way);

/// A tile far smaller than the sequences here, so that every loop turns: {16, 16}; none for those that take
/// none.
Tile small_tile(Way const& way);

}  // namespace flashpad::test
