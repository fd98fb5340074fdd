// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numeric/trial.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace flashpad::test {
namespace {

class Shapes : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, Shapes, testing::ValuesIn(all_ways()), name_of);

Trial square(std::int64_t n, Mask mask) {
  Trial trial;
  trial.shape = {1, 2, 2, n, n, 64, 64};
  trial.mask = mask;
  return trial;
}

TEST_P(Shapes, RaggedLengths) {
  for (std::int64_t const n : {1, 2, 15, 17, 31, 33, 127, 129}) {
    for (Mask const mask : {Mask::none(), Mask::causal()}) {
      Trial trial = square(n, mask);
      expect_right(GetParam(), trial);
      trial.tile = small_tile(GetParam());
      expect_right(GetParam(), trial);
    }
  }
}

TEST_P(Shapes, AThousandRows) {
  for (Mask const mask : {Mask::none(), Mask::causal()}) {
    Trial trial = square(1000, mask);
    trial.shape.heads = trial.shape.kv_heads = 1;
    trial.shape.head_dim = trial.shape.value_dim = 32;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Shapes, QueriesAndKeysOfDifferentLengths) {
  for (auto const& [seq_q, seq_k] : {std::pair{1, 300}, {7, 130}, {130, 7}, {65, 64}, {64, 65}, {200, 1}}) {
    for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(5, 9)}) {
      Trial trial = square(1, mask);
      trial.shape.seq_q = seq_q;
      trial.shape.seq_k = seq_k;
      trial.tile = small_tile(GetParam());
      expect_right(GetParam(), trial);
    }
  }
}

TEST_P(Shapes, EveryHeadDimension) {
  // At the edges of the supported range, off the powers of two, and with a scale that a padded size would
  // change.
  for (std::int64_t const dim : {16, 24, 40, 72, 80, 104, 136, 192, 248, 256}) {
    Trial trial = square(37, Mask::causal());
    trial.shape.head_dim = trial.shape.value_dim = dim;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Shapes, ValuesOfAnotherDimension) {
  for (auto const& [head_dim, value_dim] : {std::pair{64, 128}, {128, 64}, {16, 256}, {256, 16}, {40, 88}}) {
    Trial trial = square(45, Mask::none());
    trial.shape.head_dim = head_dim;
    trial.shape.value_dim = value_dim;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Shapes, GroupedQueryHeads) {
  for (std::int64_t const kv_heads : {1, 2, 3, 6}) {
    Trial trial = square(50, Mask::causal());
    trial.shape.batch = 2;
    trial.shape.heads = 6;
    trial.shape.kv_heads = kv_heads;
    trial.tile = small_tile(GetParam());
    expect_right(GetParam(), trial);
  }
}

TEST_P(Shapes, NoKeysGiveZeroAndMinusInfinity) {
  Trial trial = square(20, Mask::none());
  trial.shape.seq_k = 0;
  Result const result = expect_right(GetParam(), trial);
  for (double const lse : result.outputs.lse) EXPECT_EQ(lse, -INFINITY);
}

TEST_P(Shapes, NothingToDoIsNoError) {
  for (int which = 0; which < 3; ++which) {
    Trial trial = square(20, Mask::causal());
    if (which == 0) trial.shape.batch = 0;
    if (which == 1) trial.shape.heads = trial.shape.kv_heads = 0;
    if (which == 2) trial.shape.seq_q = 0;
    expect_right(GetParam(), trial);
  }
}

}  // namespace
}  // namespace flashpad::test
