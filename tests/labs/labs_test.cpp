// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "labs/drill.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

namespace flashpad::labs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Which drills run, and how each trial ends, the two tests of the program itself say.

std::shared_ptr<Input const> input(std::int64_t seq_q, std::int64_t seq_k, Mask const& mask, Tile tile) {
  Case one;
  one.shape = {
      .batch = 1, .heads = 2, .kv_heads = 2, .seq_q = seq_q, .seq_k = seq_k, .head_dim = 16, .value_dim = 24};
  one.mask = mask;
  return make_input("test", one, tile);
}

Trial trial(std::shared_ptr<Input const> const& on, Variant const& variant, Outcome expected) {
  Trial one;
  one.label = "variant";
  one.input = on;
  one.variant = variant;
  one.expected = expected;
  return one;
}

TEST(Judge, ABrokenVariantThatPassesIsASurprise) {
  auto const on = input(64, 64, Mask::causal(), {16, 16});
  Trial const right = trial(on, Variant{}, Outcome::passed);
  EXPECT_TRUE(judge(right).as_expected);
  EXPECT_THAT(line(right, judge(right)), HasSubstr("PASSED"));
  Trial const thought_broken = trial(on, Variant{}, Outcome::finite_but_wrong);
  EXPECT_FALSE(judge(thought_broken).as_expected);
  EXPECT_THAT(line(thought_broken, judge(thought_broken)), HasSubstr("UNEXPECTED"));
}

TEST(Judge, ARightVariantThatFailsIsASurprise) {
  Variant skips;
  skips.masking = Masking::none;
  Trial const broken = trial(input(64, 64, Mask::causal(), {16, 16}), skips, Outcome::passed);
  Finding const finding = judge(broken);
  EXPECT_EQ(finding.outcome, Outcome::finite_but_wrong);
  EXPECT_FALSE(finding.as_expected);
}

TEST(Judge, CountsTilesExactly) {
  Trial one = trial(input(64, 64, Mask::causal(), {16, 16}), Variant{}, Outcome::passed);
  one.visited = 10.0 / 16;  // 1 + 2 + 3 + 4 of 4 x 4
  EXPECT_TRUE(judge(one).as_expected);
  one.visited = 0.5;
  EXPECT_FALSE(judge(one).as_expected);
}

TEST(LabKernel, IsRightOnShapesThatNoTileDivides) {
  for (auto const& [q, k] : {std::pair(1, 1), {17, 33}, {33, 17}, {100, 100}, {5, 200}}) {
    for (Mask const& mask : {Mask::none(), Mask::causal(), Mask::window(3, 2)}) {
      for (bool const option : {false, true}) {
        Variant variant;
        variant.skips = option;
        variant.two_stages = !option;
        variant.heaviest_first = option;
        Finding const finding = judge(trial(input(q, k, mask, {16, 8}), variant, Outcome::passed));
        EXPECT_TRUE(finding.as_expected) << q << "x" << k << " " << to_string(mask);
      }
    }
  }
}

// By hand, from the mask alone: a row is NaN where its first visited tile hides every key from it.
TEST(RawInfinity, IsNanExactlyWhereTheFirstTileIsHidden) {
  constexpr int left = 8;
  constexpr int tile_q = 64;
  constexpr int tile_k = 16;
  auto const on = input(200, 200, Mask::window(left, 0), {tile_q, tile_k});
  Variant raw;
  raw.masking = Masking::raw_infinity;
  Result const result = run(on->problem, raw);
  for (int i = 0; i < 200; ++i) {
    int const first_key = std::max(0, i / tile_q * tile_q - left);
    bool const hidden = std::max(0, i - left) >= first_key + tile_k;
    EXPECT_EQ(std::isnan(result.o[static_cast<std::size_t>(i) * 24]), hidden) << i;
  }
}

TEST(LargeNegative, MakesARowThatSeesNothingAMeanOfValues) {
  auto const on = input(96, 64, Mask::causal(), {64, 16});
  Variant variant;
  variant.masking = Masking::large_negative;
  Result const result = run(on->problem, variant);
  for (int i = 0; i < 32; ++i) {  // queries that see nothing; their tile visits keys 0 to 31
    double mean = 0;
    for (int j = 0; j < 32; ++j) mean += on->problem.v[static_cast<std::size_t>(j) * 24] / 32;
    EXPECT_NEAR(result.o[static_cast<std::size_t>(i) * 24], mean, 1e-5) << i;
    EXPECT_EQ(on->o[static_cast<std::size_t>(i) * 24], 0) << "by definition";
  }
}

TEST(Drills, HaveBrokenAndRightVariants) {
  for (Drill const& drill : {masking_drill(), causal_drill(), rescale_drill()}) {
    int fails = 0;
    int solutions = 0;
    for (Trial const& one : drill.trials) {
      fails += one.exercise && one.expected != Outcome::passed ? 1 : 0;
      solutions += one.exercise ? 0 : 1;
      EXPECT_TRUE(one.exercise || one.expected == Outcome::passed) << one.label;
    }
    EXPECT_GE(fails, 2) << drill.title;
    EXPECT_GE(solutions, 2) << drill.title;
  }
}

}  // namespace
}  // namespace flashpad::labs
