// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/elements.hpp"
#include "numeric/trial.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace flashpad::test {
namespace {

class Masks : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, Masks, testing::ValuesIn(ways_for_masks()), name_of);

Trial masked(std::int64_t seq_q, std::int64_t seq_k, Mask mask) {
  Trial trial;
  trial.shape = {1, 2, 1, seq_q, seq_k, 32, 32};
  trial.mask = mask;
  return trial;
}

TEST_P(Masks, Windows) {
  // Widths around the tile of 16, one-sided and lopsided: a row's first visited tile may hide all of its
  // keys.
  for (auto const& [left, right] : {std::pair{0, 0},
                                    {1, 0},
                                    {0, 1},
                                    {15, 0},
                                    {16, 0},
                                    {17, 3},
                                    {3, 40},
                                    {-1, 5},
                                    {5, -1},
                                    {100, 100},
                                    {1000, 1000},
                                    {-1, -1}}) {
    for (auto const& [seq_q, seq_k] : {std::pair{100, 100}, {70, 133}, {133, 70}}) {
      Trial trial = masked(seq_q, seq_k, {left, right});
      trial.tile = small_tile(GetParam());
      expect_right(GetParam(), trial);
      trial.tile = {};
      expect_right(GetParam(), trial);
    }
  }
}

TEST_P(Masks, AMinusOneZeroWindowIsCausal) {
  Way const& way = GetParam();
  Trial causal = masked(77, 90, Mask::causal());
  Trial window = masked(77, 90, Mask::window(-1, 0));
  measure::Inputs const inputs = make_inputs(way, causal);
  EXPECT_EQ(run(way, causal, inputs).outputs.o, run(way, window, inputs).outputs.o);
}

TEST_P(Masks, CausalIsAlignedBottomRight) {
  // With more keys than queries, the first query sees the keys up to seq_k - seq_q; a mask aligned top-left
  // would show it one key.
  Way const& way = GetParam();
  Trial trial = masked(3, 10, Mask::causal());
  trial.distribution = Distribution::constant;
  Result const result = expect_right(way, trial);
  // Scores are all equal: LSE = score + log(number of visible keys).
  double const score = 0.25 * 32 / std::sqrt(32.0);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(result.outputs.lse[row], score + std::log(8.0 + static_cast<double>(row)), 1e-5);
  }
}

TEST_P(Masks, RowsThatSeeNothingAreZero) {
  // Causal with more queries than keys: the first 60 rows see no key.
  Way const& way = GetParam();
  for (Tile const tile : {Tile{}, small_tile(way)}) {
    Trial trial = masked(100, 40, Mask::causal());
    trial.tile = tile;
    Result const result = expect_right(way, trial);
    for (std::size_t row = 0; row < 60; ++row) EXPECT_EQ(result.outputs.lse[row], -INFINITY);
  }
  // And a window that ends before the first key for some rows.
  Trial trial = masked(60, 40, Mask::window(4, 2));
  trial.tile = small_tile(way);
  expect_right(way, trial);
}

TEST_P(Masks, WindowsWiderThanAnySequence) {
  std::int64_t const huge = std::numeric_limits<std::int64_t>::max();
  for (Mask const mask : {Mask{huge, 0}, Mask{0, huge}, Mask{huge, huge}})
    expect_right(GetParam(), masked(40, 50, mask));
}

TEST_P(Masks, VisitingHiddenTilesChangesNothing) {
  for (Mask const mask : {Mask::causal(), Mask::window(9, 3)}) {
    Trial trial = masked(100, 120, mask);
    trial.tile = small_tile(GetParam());
    trial.skip_hidden_tiles = false;
    expect_right(GetParam(), trial);
  }
}

class HiddenKeys : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, HiddenKeys, testing::ValuesIn(all_ways()), name_of);

void poison_key(Shape const& s, measure::Inputs& inputs, std::int64_t key, double value) {
  for (std::int64_t g = 0; g < s.batch * s.kv_heads; ++g) {
    for (std::int64_t c = 0; c < s.head_dim; ++c) {
      inputs.k[static_cast<std::size_t>((g * s.seq_k + key) * s.head_dim + c)] = value;
    }
    for (std::int64_t c = 0; c < s.value_dim; ++c) {
      inputs.v[static_cast<std::size_t>((g * s.seq_k + key) * s.value_dim + c)] = value;
    }
  }
}

TEST_P(HiddenKeys, NanAndInfinityInKeysThatNoRowSeesChangeNothing) {
  Way const& way = GetParam();
  // Rows 0..29 sit on the diagonal of keys 70..99; a window of 5 to the left shows keys 65..99 and no others.
  for (double const bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (Tile const tile : {Tile{}, small_tile(way)}) {
      Trial trial = masked(30, 100, Mask::window(5, 0));
      trial.tile = tile;
      trial.edit = [bad](Shape const& s, measure::Inputs& inputs) {
        for (std::int64_t key = 0; key < 65; ++key) poison_key(s, inputs, key, bad);
      };
      Result const result = expect_right(way, trial);
      for (double const lse : result.outputs.lse) EXPECT_TRUE(std::isfinite(lse));
    }
  }
}

TEST_P(HiddenKeys, NanInAKeyThatSomeRowsSeeLeavesTheOthersLse) {
  // K never reaches a row that does not see it, so its LSE stays what it was. (V may: 0 times NaN.)
  Way const& way = GetParam();
  Trial trial = masked(64, 64, Mask::causal());
  trial.tile = small_tile(way);
  measure::Inputs const clean = make_inputs(way, trial);
  trial.edit = [](Shape const& s, measure::Inputs& inputs) {
    for (std::int64_t c = 0; c < s.head_dim; ++c) {
      inputs.k[static_cast<std::size_t>(40 * s.head_dim + c)] = std::numeric_limits<double>::quiet_NaN();
    }
  };
  measure::Inputs const dirty = make_inputs(way, trial);
  Result const before = run(way, trial, clean);
  Result const after = run(way, trial, dirty);
  for (std::size_t row = 0; row < 64; ++row) {
    if (row < 40) {
      EXPECT_EQ(after.outputs.lse[row], before.outputs.lse[row]) << row;
    } else {
      EXPECT_TRUE(std::isnan(after.outputs.lse[row])) << row;
    }
  }
}

TEST_P(HiddenKeys, ANanThatARowSeesGivesNan) {
  for (Tile const tile : {Tile{}, small_tile(GetParam())}) {
    Trial trial = masked(20, 60, Mask::none());
    trial.tile = tile;
    trial.edit = [](Shape const& s, measure::Inputs& inputs) {
      for (std::int64_t key = 0; key < s.seq_k; ++key)
        poison_key(s, inputs, key, std::numeric_limits<double>::quiet_NaN());
    };
    // Every value is NaN: a verdict would call that nothing verified.
    Result const result = run(GetParam(), trial, make_inputs(GetParam(), trial));
    for (double const lse : result.outputs.lse) EXPECT_TRUE(std::isnan(lse));
    bool const has_values = GetParam().kernel != Kernel::stats;
    for (std::int64_t i = 0; has_values && i < std::int64_t{2} * 20 * 32; ++i)
      EXPECT_TRUE(std::isnan(measure::load(result.outputs.o.data(), GetParam().dtype, i))) << i;
  }
}

}  // namespace
}  // namespace flashpad::test
