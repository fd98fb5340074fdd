// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace flashpad {
namespace {

/// What the 16 bits mean, from the definition of the format.
double value_of(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  int const bias = (1 << (exponent_bits - 1)) - 1;
  int const exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  int const mantissa = bits & ((1 << mantissa_bits) - 1);
  double const sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa == 0 ? sign * INFINITY : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

template <class T>
void check_all(int exponent_bits, int mantissa_bits) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    T const stored{static_cast<std::uint16_t>(bits)};
    double const want = value_of(stored.bits, exponent_bits, mantissa_bits);
    float const got = to_float(stored);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << bits;
      EXPECT_TRUE(std::isnan(to_float(from_float<T>(got)))) << bits;
    } else {
      EXPECT_EQ(got, want) << bits;
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << bits;
      EXPECT_EQ(from_float<T>(got).bits, bits) << "round trip";
    }
  }
}

/// Every pair of neighbours: just below the middle, the middle and just above it.
template <class T>
void check_rounding(std::uint16_t largest) {
  for (std::uint16_t bits = 0; bits < largest; ++bits) {
    float const low = to_float(T{bits});
    float const high = to_float(T{static_cast<std::uint16_t>(bits + 1)});
    float const middle = low + (high - low) / 2;
    std::uint16_t const even = static_cast<std::uint16_t>((bits & 1u) == 0 ? bits : bits + 1);
    EXPECT_EQ(from_float<T>(middle).bits, even) << bits;
    EXPECT_EQ(from_float<T>(std::nextafter(middle, low)).bits, bits);
    EXPECT_EQ(from_float<T>(std::nextafter(middle, high)).bits, bits + 1);
    EXPECT_EQ(from_float<T>(-middle).bits, even | 0x8000u);
  }
}

TEST(Half, EveryValueGoesThereAndBack) { check_all<half>(5, 10); }
TEST(Half, RoundsToNearestEven) { check_rounding<half>(0x7bff); }
TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(from_float<half>(65519.0f).bits, 0x7bffu);
  EXPECT_EQ(from_float<half>(65520.0f).bits, 0x7c00u);
  EXPECT_EQ(from_float<half>(-1e30f).bits, 0xfc00u);
  EXPECT_EQ(from_float<half>(1e-30f).bits, 0u);
}

TEST(Bfloat16, EveryValueGoesThereAndBack) { check_all<bfloat16>(8, 7); }
TEST(Bfloat16, RoundsToNearestEven) { check_rounding<bfloat16>(0x7f7f); }
TEST(Bfloat16, OverflowsToInfinity) { EXPECT_EQ(from_float<bfloat16>(3.4e38f).bits, 0x7f80u); }

}  // namespace
}  // namespace flashpad
