// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numeric/trial.hpp"

#include <cstdint>
#include <vector>

namespace flashpad::test {
namespace {

class Memory : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, Memory, testing::ValuesIn(all_ways()), name_of);

Trial trial_of(Mask mask = Mask::causal()) {
  Trial trial;
  trial.shape = {2, 4, 2, 50, 61, 40, 24};
  trial.mask = mask;
  return trial;
}

TEST_P(Memory, BothLayouts) {
  for (Layout const layout : {Layout::bhnd, Layout::bnhd}) {
    Trial trial = trial_of();
    trial.placement.layout = layout;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Memory, GapsBetweenRowsAndHeadsStayUntouched) {
  for (Layout const layout : {Layout::bhnd, Layout::bnhd}) {
    Trial trial = trial_of();
    trial.placement = {layout, 3, 11, 0};
    expect_right(GetParam(), trial);
  }
}

TEST_P(Memory, AnyAddressThatTheTypeAllows) {
  for (std::int64_t const base : {1, 2, 3, 5}) {
    Trial trial = trial_of();
    trial.placement.base = base;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Memory, WithoutLse) {
  Trial trial = trial_of();
  trial.with_lse = false;
  expect_right(GetParam(), trial);
}

std::vector<Way> naive_ways() {
  std::vector<Way> ways;
  for (Way const& way : all_ways()) {
    if (way.kernel == Kernel::naive) ways.push_back(way);
  }
  return ways;
}

class NaiveMemory : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, NaiveMemory, testing::ValuesIn(naive_ways()), name_of);

TEST_P(NaiveMemory, InChunksOfHeads) {
  Trial trial = trial_of(Mask::none());
  // Room for the scores of three of eight heads, so that the last chunk is smaller.
  trial.workspace_limit = 3.5 * (50 * 61 + (50 + 61) * (40 + 24)) * 4;
  if (GetParam().dtype == DType::fp64) trial.workspace_limit = 3.5 * 50 * 61 * 8;
  if (GetParam().dtype == DType::fp32) trial.workspace_limit = 3.5 * 50 * 61 * 4;
  Result const result = expect_right(GetParam(), trial);
  EXPECT_LE(result.choice.workspace_bytes, trial.workspace_limit);
  EXPECT_GT(result.choice.workspace_bytes, trial.workspace_limit / 2);
}

TEST_P(Memory, ProbabilitiesInTheInputsType) {
  Trial trial = trial_of();
  trial.probabilities_in_input_type = true;
  Result const narrow = expect_right(GetParam(), trial);
  trial.probabilities_in_input_type = false;
  Result const wide = run(GetParam(), trial, make_inputs(GetParam(), trial));
  bool const matters = GetParam().kernel == Kernel::naive && size_of(GetParam().dtype) == 2;
  EXPECT_EQ(narrow.choice.workspace_bytes > wide.choice.workspace_bytes, matters);
}

}  // namespace
}  // namespace flashpad::test
