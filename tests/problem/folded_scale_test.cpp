// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem/folded_scale.hpp"

#include <gtest/gtest.h>

namespace flashpad {
namespace {

TEST(FoldedScale, IsAPositiveFactorAndASign) {
  FoldedScale const positive = FoldedScale::of(0.125), negative = FoldedScale::of(-2);
  EXPECT_FLOAT_EQ(positive.factor, 0.18033688f);
  EXPECT_EQ(positive.sign, 1);
  EXPECT_FLOAT_EQ(negative.factor, 2.8853901f);
  EXPECT_EQ(negative.sign, -1);
}

TEST(FoldedScale, OfWhatRoundsToZeroHasNoFactorOfZero) {
  // The smallest float is 1.4e-45: half of it, by log2(e), is 4.9e-46.
  for (double const scale : {0.0, -0.0, 1e-46, -1e-46, 4.8e-46, 5e-324}) {
    EXPECT_EQ(FoldedScale::of(scale).factor, 1) << scale;
    EXPECT_EQ(FoldedScale::of(scale).sign, 0) << scale;
  }
  EXPECT_GT(FoldedScale::of(5e-46).factor, 0);
  EXPECT_LT(FoldedScale::of(5e-46).factor, 1);
  EXPECT_EQ(FoldedScale::of(-5e-46).sign, -1);
}

}  // namespace
}  // namespace flashpad
