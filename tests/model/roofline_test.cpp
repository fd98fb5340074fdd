// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/roofline.hpp"

#include <gtest/gtest.h>

namespace flashpad::model {
namespace {

constexpr Peaks peaks = {.flops = 1000e12, .bandwidth = 5e12};  // a ridge at 200 operations a byte

TEST(Roof, IsBandwidthLeftOfTheRidge) {
  Roof const naive = roof(62e9, 1e9, peaks);
  EXPECT_DOUBLE_EQ(naive.intensity, 62);
  EXPECT_DOUBLE_EQ(naive.attainable, 310e12);
  EXPECT_EQ(naive.name(), "bandwidth");
}

TEST(Roof, IsComputeRightOfTheRidge) {
  // N / 2 operations a byte: a fused kernel at N = 400 meets the ridge, beyond it compute limits.
  EXPECT_EQ(roof(200, 1, peaks).name(), "compute");
  EXPECT_EQ(roof(199, 1, peaks).name(), "bandwidth");
  EXPECT_DOUBLE_EQ(roof(4096, 2, peaks).attainable, 1000e12);
}

TEST(Flag, MarksMoreThanTheMachineCanDo) {
  double const cache = 32e6;
  EXPECT_EQ(flag(1000e12, 1, 1.0, 1e9, cache, peaks), "");
  EXPECT_EQ(flag(1001e12, 1, 1.0, 1e9, cache, peaks), "suspect");
  EXPECT_EQ(flag(1001e12, 1, 1.0, 1e3, cache, peaks), "suspect");  // no cache makes arithmetic faster
}

TEST(Flag, TellsCacheFromMemory) {
  double const cache = 32e6;
  EXPECT_EQ(flag(1, 5e12, 1.0, 1e6, cache, peaks), "");
  EXPECT_EQ(flag(1, 6e12, 1.0, 32e6, cache, peaks), "cache-resident");
  EXPECT_EQ(flag(1, 6e12, 1.0, 33e6, cache, peaks), "suspect");
}

}  // namespace
}  // namespace flashpad::model
