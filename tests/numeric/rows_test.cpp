// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numeric/trial.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

// Few query rows, as in a decode step: groups of query heads on one key head, ragged and split keys, windows
// that cut a block of rows unevenly. Every tiled way runs it; the engine for few rows was made for it.

namespace flashpad::test {
namespace {

std::vector<Way> fused_ways() {
  std::vector<Way> ways;
  for (Way const& way : all_ways()) {
    if (way.kernel == Kernel::fused) ways.push_back(way);
  }
  return ways;
}

class Rows : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(fused_ways()), name_of);

Trial step(std::int64_t seq_q, std::int64_t group, std::int64_t seq_k, std::int64_t dim, Mask mask) {
  Trial trial;
  trial.shape = {1, 2 * group, 2, seq_q, seq_k, dim, dim};
  trial.mask = mask;
  trial.distribution = Distribution::unbalanced;
  return trial;
}

TEST_P(Rows, GroupsThatFillNoBlock) {
  for (std::int64_t const group : {1, 2, 3, 5, 7, 8, 9}) {
    expect_right(GetParam(), step(1, group, 333, 64, Mask::none()));
    expect_right(GetParam(), step(3, group, 131, 40, Mask::causal()));
  }
}

TEST_P(Rows, EveryCountOfQueries) {
  for (std::int64_t const seq_q : {1, 2, 4, 5, 6, 8, 11, 15, 16, 17, 21}) {
    expect_right(GetParam(), step(seq_q, 2, 200, 72, Mask::causal()));
    expect_right(GetParam(), step(seq_q, 3, 67, 24, Mask::window(9, 2)));
  }
}

TEST_P(Rows, RaggedKeys) {
  for (std::int64_t const seq_k : {1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 127, 129, 193}) {
    expect_right(GetParam(), step(1, 1, seq_k, 64, Mask::none()));
    expect_right(GetParam(), step(2, 4, seq_k, 16, Mask::window(20, 0)));
  }
}

TEST_P(Rows, EveryHeadDimension) {
  for (std::int64_t dim = 16; dim <= 256; dim += 24) expect_right(GetParam(), step(2, 3, 70, dim, {}));
  Trial trial = step(1, 8, 90, 136, Mask::none());
  trial.shape.value_dim = 24;
  expect_right(GetParam(), trial);
}

TEST_P(Rows, SplitsAndTiles) {
  for (int const splits : {2, 5, 40}) {
    for (Tile const tile : {Tile{1, 1}, Tile{2, 16}, Tile{16, 48}}) {
      for (Mask const mask : {Mask::none(), Mask::window(33, 1)}) {
        Trial trial = step(4, 3, 300, 32, mask);
        trial.splits = splits;
        trial.tile = tile;
        Result const result = expect_right(GetParam(), trial);
        if (!result.refused) {
          EXPECT_EQ(result.choice.splits, splits);
        }
      }
    }
  }
}

TEST_P(Rows, NegativeAndZeroScale) {
  for (double const scale : {-0.7, 0.0}) {
    Trial trial = step(2, 4, 100, 48, Mask::causal());
    trial.scale = scale;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Rows, NaNInKeysThatNoRowSees) {
  // Unused slots at the end of a cache, and what a window has left behind.
  Trial trial = step(3, 4, 150, 64, Mask::window(40, 0));
  trial.edit = [](Shape const& s, measure::Inputs& inputs) {
    for (std::int64_t g = 0; g < s.kv_heads; ++g) {
      for (std::int64_t j = 0; j < s.seq_k - s.seq_q - 40; ++j) {
        for (std::int64_t c = 0; c < s.head_dim; ++c) {
          auto const at = static_cast<std::size_t>((g * s.seq_k + j) * s.head_dim + c);
          inputs.k[at] = j % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : INFINITY;
          inputs.v[at] = std::numeric_limits<double>::quiet_NaN();
        }
      }
    }
  };
  Result const result = run(GetParam(), trial, make_inputs(GetParam(), trial));
  for (double const lse : result.outputs.lse) EXPECT_TRUE(std::isfinite(lse));
  expect_right(GetParam(), trial);
}

TEST_P(Rows, RowsThatSeeNothing) {
  Trial trial = step(9, 3, 4, 64, Mask::causal());  // rows 0 to 4 see no key
  Result const result = expect_right(GetParam(), trial);
  EXPECT_EQ(result.outputs.lse[0], -INFINITY);
}

TEST_P(Rows, HugeScores) {
  Trial trial = step(2, 4, 100, 64, Mask::none());
  trial.scale = -1e6;
  expect_right(GetParam(), trial);
}

}  // namespace
}  // namespace flashpad::test
