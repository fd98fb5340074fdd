// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/scale.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace flashpad::html_report {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

Range range(double low, double high) {
  Range range;
  range.take(low);
  range.take(high);
  return range;
}

TEST(Range, TakesWhatALogarithmHas) {
  Range range;
  for (double const value :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    range.take(value);
  EXPECT_TRUE(range.empty);
  range.take(3);
  range.take(2);
  EXPECT_EQ(range.low, 2);
  EXPECT_EQ(range.high, 3);
}

TEST(LogScale, EqualRatiosAreEqualDistances) {
  LogScale const scale(range(1, 100), 10, 210, 0);
  EXPECT_NEAR(scale(1) - 10, 210 - scale(100), 1e-9);
  EXPECT_NEAR(scale(10), 110, 1e-9);
  EXPECT_NEAR(scale(10) - scale(1), scale(100) - scale(10), 1e-9);
}

TEST(LogScale, OneValueStandsInTheMiddle) {
  LogScale const scale(range(7, 7), 0, 100);
  EXPECT_NEAR(scale(7), 50, 1e-9);
}

TEST(LogScale, TicksLieInsideAndAreRound) {
  EXPECT_THAT(LogScale(range(0.9, 1100), 0, 1, 0).ticks(),
              ElementsAre(DoubleEq(1), DoubleEq(10), DoubleEq(100), DoubleEq(1000)));
  EXPECT_THAT(LogScale(range(0.9, 11), 0, 1, 0).ticks(),
              ElementsAre(DoubleEq(1), DoubleEq(2), DoubleEq(5), DoubleEq(10)));
  EXPECT_THAT(LogScale(range(2.9, 4.1), 0, 1, 0).ticks(), ElementsAre(DoubleEq(3), DoubleEq(4)));
}

TEST(LogScale, ManyDecadesHaveFewTicks) {
  for (double const high : {1e9, 1e15, 1e40, 1e250}) {
    std::size_t const count = LogScale(range(1e-3, high), 0, 1).ticks().size();
    EXPECT_GE(count, 2u) << high;
    EXPECT_LE(count, 8u) << high;
  }
}

TEST(Labels, AreShort) {
  EXPECT_EQ(short_number(0.1253), "0.125");
  EXPECT_EQ(short_number(17), "17");
  EXPECT_EQ(short_number(1234.5), "1234");
  EXPECT_EQ(short_number(1234567), "1.2e+06");
  EXPECT_EQ(length_label(512), "512");
  EXPECT_EQ(length_label(1000), "1000");
  EXPECT_EQ(length_label(1024), "1k");
  EXPECT_EQ(length_label(1536), "1.5k");
  EXPECT_EQ(length_label(1048576), "1M");
}

}  // namespace
}  // namespace flashpad::html_report
