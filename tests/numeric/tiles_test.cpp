// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/backend.hpp"
#include "numeric/trial.hpp"

namespace flashpad::test {
namespace {

std::vector<Way> tiled_ways() {
  std::vector<Way> ways;
  for (Way const& way : all_ways()) {
    if (has_tiles(way)) ways.push_back(way);
  }
  return ways;
}

class Tiles : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, Tiles, testing::ValuesIn(tiled_ways()), name_of);

Trial trial_of(Mask mask) {
  Trial trial;
  trial.shape = {1, 2, 2, 90, 143, 32, 40};
  trial.mask = mask;
  trial.distribution = Distribution::unbalanced;
  return trial;
}

TEST_P(Tiles, AnyShape) {
  for (Tile const tile : {Tile{1, 1}, Tile{1, 64}, Tile{64, 1}, Tile{7, 13}, Tile{48, 24}, Tile{128, 256}}) {
    for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(11, 4)}) {
      Trial trial = trial_of(mask);
      trial.tile = tile;
      Result const result = expect_right(GetParam(), trial);
      if (!result.refused) {
        EXPECT_EQ(result.choice.tile, tile);
      }
    }
  }
}

// What an engine does not vary is refused; what is taken is right. One of each is what the engine has.
TEST_P(Tiles, AnyTeamAndStages) {
  int taken = 0;
  for (std::int64_t const dim : {64, 128}) {
    for (int const team : {1, 2, 4, 8}) {
      for (int const stages : {1, 2, 3, 4}) {
        for (Tile const tile : {Tile{0, 0}, Tile{64, 32}, Tile{64, 16}, Tile{128, 32}, Tile{16, 16}}) {
          Trial trial = trial_of(Mask::causal());
          trial.shape.head_dim = trial.shape.value_dim = dim;
          trial.tile = tile;
          trial.team_size = team;
          trial.stages = stages;
          Result const result = expect_right(GetParam(), trial);
          if (result.refused) continue;
          ++taken;
          EXPECT_EQ(result.choice.team_size, team);
          EXPECT_EQ(result.choice.stages, stages);
          if (tile != Tile{}) {
            EXPECT_EQ(result.choice.tile, tile);
          }
        }
      }
    }
  }
  EXPECT_GT(taken, 0);
}

TEST_P(Tiles, SplitKeysAreMerged) {
  for (int const splits : {2, 3, 7, 30}) {
    for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(40, 0)}) {
      Trial trial = trial_of(mask);
      trial.tile = {32, 16};
      trial.splits = splits;  // 30 parts of 9 tiles: most parts have none
      Result const result = expect_right(GetParam(), trial);
      EXPECT_EQ(result.choice.splits, splits);
    }
  }
}

TEST_P(Tiles, SplitRowsThatSeeNothing) {
  Trial trial = trial_of(Mask::causal());
  trial.shape.seq_k = 30;
  trial.tile = {16, 16};
  trial.splits = 3;
  expect_right(GetParam(), trial);
}

TEST_P(Tiles, OneQueryOverManyKeysSplitsByItself) {
  Trial trial;
  trial.shape = {1, 1, 1, 1, 5000, 64, 64};
  Result const result = expect_right(GetParam(), trial);
  if (measure::backend(GetParam().backend).info().concurrency > 1) {
    EXPECT_GT(result.choice.splits, 1);
  }
}

TEST_P(Tiles, TheSameBitsFromRunToRun) {
  for (int const splits : {1, 4}) {
    Trial trial = trial_of(Mask::causal());
    trial.shape.heads = trial.shape.kv_heads = 8;
    trial.tile = {16, 16};
    trial.splits = splits;
    measure::Inputs const inputs = make_inputs(GetParam(), trial);
    Result const first = run(GetParam(), trial, inputs);
    for (int i = 0; i < 5; ++i) {
      Result const again = run(GetParam(), trial, inputs);
      EXPECT_EQ(again.outputs.o, first.outputs.o);
      EXPECT_EQ(again.outputs.lse, first.outputs.lse);
    }
  }
}

}  // namespace
}  // namespace flashpad::test
