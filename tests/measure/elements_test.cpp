// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/elements.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <tuple>

namespace flashpad::measure {
namespace {

TEST(Rounded, IsNearestTiesToEven) {
  EXPECT_EQ(rounded(1 + 0x1p-11, DType::fp16), 1.0);             // a tie, 1 is even
  EXPECT_EQ(rounded(1 + 3 * 0x1p-11, DType::fp16), 1 + 0x1p-9);  // a tie, up to even
  EXPECT_EQ(rounded(1 + 0x1p-8, DType::bf16), 1.0);
  EXPECT_EQ(rounded(1 + 3 * 0x1p-8, DType::bf16), 1 + 0x1p-6);
  EXPECT_EQ(rounded(0.1, DType::fp32), static_cast<double>(0.1f));
  EXPECT_EQ(rounded(0.1, DType::fp64), 0.1);
}

// Through float first, this would land on the tie and then go the wrong way.
TEST(Rounded, RoundsOnce) {
  EXPECT_EQ(rounded(1 + 0x1p-11 + 0x1p-40, DType::fp16), 1 + 0x1p-10);
  EXPECT_EQ(rounded(1 + 3 * 0x1p-11 - 0x1p-40, DType::fp16), 1 + 0x1p-10);
  EXPECT_EQ(rounded(-1 - 0x1p-8 - 0x1p-40, DType::bf16), -1 - 0x1p-7);
  EXPECT_EQ(rounded(0x1p-25 + 0x1p-60, DType::fp16), 0x1p-24);
}

TEST(Rounded, KeepsWhatIsNoNumber) {
  EXPECT_TRUE(std::isnan(rounded(NAN, DType::fp16)));
  EXPECT_EQ(rounded(INFINITY, DType::bf16), INFINITY);
  EXPECT_EQ(rounded(-1e6, DType::fp16), -INFINITY);
  EXPECT_EQ(rounded(65504, DType::fp16), 65504);
}

class Packing : public ::testing::TestWithParam<std::tuple<DType, Layout>> {};

TEST_P(Packing, RoundTrips) {
  auto const [dtype, layout] = GetParam();
  Extents const e = {2, 3, 700, 4};  // more rows than one piece of parallel work
  std::vector<double> values(static_cast<std::size_t>(e.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 251) - 100;
  std::vector<std::byte> const data = pack(values, e, dtype, layout);
  EXPECT_EQ(data.size(), values.size() * static_cast<std::size_t>(size_of(dtype)));
  EXPECT_EQ(unpack(data, e, dtype, layout), values);
  std::int64_t const b = 1, h = 2, n = 650, c = 3;  // where an element lies, by hand
  std::int64_t const at =
      layout == Layout::bhnd ? ((b * 3 + h) * 700 + n) * 4 + c : ((b * 700 + n) * 3 + h) * 4 + c;
  EXPECT_EQ(load(data.data(), dtype, at), values[static_cast<std::size_t>(((b * 3 + h) * 700 + n) * 4 + c)]);
}

TEST_P(Packing, FindsTheFirstNan) {
  auto const [dtype, layout] = GetParam();
  Extents const e = {2, 3, 700, 4};
  std::vector<double> values(static_cast<std::size_t>(e.count()), INFINITY);
  EXPECT_EQ(first_nan(pack(values, e, dtype, layout), e, dtype, layout), e.count());
  for (std::size_t const at : {16799u, 9001u, 9002u, 2803u}) {  // each before those there are, in b, h, n, c
    values[at] = NAN;
    std::int64_t const first = at == 9002 ? 9001 : static_cast<std::int64_t>(at);
    EXPECT_EQ(first_nan(pack(values, e, dtype, layout), e, dtype, layout), first);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Packing,
                         ::testing::Combine(::testing::Values(DType::fp64, DType::fp32, DType::fp16,
                                                              DType::bf16),
                                            ::testing::Values(Layout::bhnd, Layout::bnhd)));

}  // namespace
}  // namespace flashpad::measure
