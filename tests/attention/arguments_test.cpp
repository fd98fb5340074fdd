// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <vector>

namespace flashpad::detail {
namespace {

std::vector<float> memory(100000);

TensorRef tensor(std::int64_t at, std::array<std::int64_t, 4> extent, std::array<std::int64_t, 4> stride) {
  TensorRef ref;
  ref.data = memory.data() + at;
  std::copy(extent.begin(), extent.end(), ref.extent);
  std::copy(stride.begin(), stride.end(), ref.stride);
  ref.present = true;
  return ref;
}

std::multiset<float const*> elements(TensorRef const& t) {
  std::multiset<float const*> all;
  for (std::int64_t b = 0; b < t.extent[0]; ++b) {
    for (std::int64_t h = 0; h < t.extent[1]; ++h) {
      for (std::int64_t n = 0; n < t.extent[2]; ++n) {
        for (std::int64_t c = 0; c < t.extent[3]; ++c) {
          all.insert(static_cast<float const*>(t.data) + b * t.stride[0] + h * t.stride[1] + n * t.stride[2] +
                     c * t.stride[3]);
        }
      }
    }
  }
  return all;
}

bool really_overlap(TensorRef const& a, TensorRef const& b) {
  auto const mine = elements(a);
  auto const theirs = elements(b);
  return std::any_of(mine.begin(), mine.end(), [&](float const* x) { return theirs.count(x) > 0; });
}

TEST(Overlap, IsExactForViewsIntoOnePackedBuffer) {
  // A buffer (batch, n, 3, heads, d) that holds q, k and v side by side, as projections leave it.
  std::int64_t const d = 8, heads = 3, n = 5;
  std::array<std::int64_t, 4> const stride = {n * 3 * heads * d, d, 3 * heads * d, 1};
  for (std::int64_t a = 0; a < 3 * heads * d; a += 4) {
    for (std::int64_t b = 0; b < 3 * heads * d; b += 4) {
      TensorRef const x = tensor(1000 + a, {2, heads, n, d}, stride);
      TensorRef const y = tensor(1000 + b, {2, heads, n, d}, stride);
      EXPECT_EQ(overlap(x, y), really_overlap(x, y)) << a << " and " << b;
    }
  }
}

TEST(Overlap, IsExactForHeadsOfDifferentNumber) {
  // A row holds q (4 heads), k (2), v (2) and o (4) side by side.
  std::int64_t const d = 8, n = 5, row = 12 * d;
  auto const part = [&](std::int64_t first_head, std::int64_t heads) {
    return tensor(1000 + first_head * d, {2, heads, n, d}, {n * row, d, row, 1});
  };
  for (auto const& [first, heads] : {std::pair{0, 4}, {4, 2}, {6, 2}, {8, 4}, {3, 2}, {7, 3}}) {
    for (auto const& [other_first, other_heads] : {std::pair{0, 4}, {4, 2}, {6, 2}, {8, 4}, {5, 1}}) {
      TensorRef const x = part(first, heads);
      TensorRef const y = part(other_first, other_heads);
      EXPECT_EQ(overlap(x, y), really_overlap(x, y)) << first << " and " << other_first;
      EXPECT_EQ(overlap(y, x), really_overlap(x, y));
    }
  }
}

TEST(Overlap, IsExactForRowsOfHeadsOfDifferentLength) {
  // A row holds q and k (3 heads of 16 each) and v and o (3 heads of 8 each) side by side.
  std::int64_t const heads = 3, n = 5, row = heads * (16 + 16 + 8 + 8);
  auto const part = [&](std::int64_t at, std::int64_t d) {
    return tensor(1000 + at, {2, heads, n, d}, {n * row, d, row, 1});
  };
  for (std::int64_t at = 0; at < row; at += 8) {
    for (std::int64_t const d : {8, 16}) {
      TensorRef const x = part(48, 16);
      TensorRef const y = part(at, d);
      EXPECT_EQ(overlap(x, y), really_overlap(x, y)) << at << " " << d;
      EXPECT_EQ(overlap(y, x), really_overlap(x, y));
    }
  }
}

TEST(Overlap, IsExactForRowsInReverse) {
  TensorRef const reversed = tensor(1000 + 4 * 16, {1, 1, 5, 16}, {80, 80, -16, 1});
  for (std::int64_t at = 1000 - 40; at < 1000 + 100; at += 4) {
    TensorRef const other = tensor(at, {1, 1, 2, 16}, {32, 32, 16, 1});
    EXPECT_EQ(overlap(reversed, other), really_overlap(reversed, other)) << at;
    EXPECT_EQ(overlap(other, reversed), really_overlap(reversed, other)) << at;
  }
}

TEST(Overlap, ComparesRangesOtherwise) {
  TensorRef const a = tensor(0, {1, 1, 4, 8}, {32, 32, 8, 1});
  EXPECT_FALSE(overlap(a, tensor(32, {1, 1, 2, 8}, {16, 16, 8, 1})));
  EXPECT_TRUE(overlap(a, tensor(31, {1, 1, 2, 8}, {32, 32, 16, 1})));
  EXPECT_FALSE(overlap(a, tensor(0, {1, 1, 0, 8}, {16, 16, 8, 1}))) << "no elements";
}

TEST(OverlapsItself, FindsSharedElements) {
  EXPECT_FALSE(overlaps_itself(tensor(0, {2, 3, 4, 8}, {96, 32, 8, 1})));
  EXPECT_FALSE(overlaps_itself(tensor(0, {1, 1, 4, 8}, {0, 0, 8, 1}))) << "an axis of one moves nothing";
  EXPECT_TRUE(overlaps_itself(tensor(0, {2, 3, 4, 8}, {96, 0, 8, 1})));
  EXPECT_TRUE(overlaps_itself(tensor(0, {1, 1, 4, 8}, {0, 0, 4, 1})));
  EXPECT_FALSE(overlaps_itself(tensor(24, {1, 1, 4, 8}, {0, 0, -8, 1}))) << "rows in reverse";
  EXPECT_TRUE(overlaps_itself(tensor(24, {1, 1, 4, 8}, {0, 0, -4, 1})));
}

class CheckArguments : public testing::Test {
 protected:
  Shape m_shape{2, 4, 2, 5, 6, 16, 24};
  Arguments m_arguments;

  void SetUp() override {
    m_arguments.q = tensor(0, {2, 4, 5, 16}, {320, 80, 16, 1});
    m_arguments.k = tensor(1000, {2, 2, 6, 16}, {192, 96, 16, 1});
    m_arguments.v = tensor(2000, {2, 2, 6, 24}, {288, 144, 24, 1});
    m_arguments.o = tensor(3000, {2, 4, 5, 24}, {480, 120, 24, 1});
    m_arguments.lse = tensor(5000, {2, 4, 5, 1}, {20, 5, 1, 1});
  }

  std::string refusal(Kernel kernel = Kernel::fused) {
    try {
      check_arguments(m_shape, DType::fp32, kernel, m_arguments);
    } catch (Error const& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(CheckArguments, AcceptsWhatFits) {
  EXPECT_EQ(refusal(), "accepted");
  m_arguments.lse = {};
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(CheckArguments, Extents) {
  m_arguments.k.extent[2] = 7;
  EXPECT_EQ(refusal(), "k: its extents are (2, 2, 7, 16); this plan takes (2, 2, 6, 16)");
}

TEST_F(CheckArguments, ElementTypes) {
  m_arguments.v.dtype = DType::bf16;
  EXPECT_EQ(refusal(), "v: its element type is bf16; this plan takes fp32");
}

TEST_F(CheckArguments, LastStride) {
  m_arguments.q.stride[3] = 2;
  EXPECT_EQ(refusal(), "q: its last stride is 2; allowed: 1");
}

TEST_F(CheckArguments, NullMemory) {
  m_arguments.v.data = nullptr;
  EXPECT_EQ(refusal(), "v: it has no memory; allowed: an allocated View");
}

TEST_F(CheckArguments, OutputsMayNotOverlap) {
  m_arguments.o.data = m_arguments.q.data;
  EXPECT_EQ(refusal(), "o: its memory overlaps that of q; an output may not overlap");
  SetUp();
  m_arguments.lse.data = static_cast<float const*>(m_arguments.o.data) + 30;
  EXPECT_EQ(refusal(), "o: its memory overlaps that of lse; an output may not overlap");
  SetUp();
  m_arguments.o.stride[1] = 0;
  EXPECT_THAT(refusal(), testing::StartsWith("o: two of its elements share memory"));
  SetUp();
  m_arguments.k = m_arguments.v = tensor(1000, {2, 2, 6, 16}, {0, 0, 0, 1});
  m_shape.value_dim = 16;
  m_arguments.o = tensor(3000, {2, 4, 5, 16}, {320, 80, 16, 1});
  EXPECT_EQ(refusal(), "accepted") << "inputs may overlap";
}

TEST_F(CheckArguments, TheRightOutputsForTheKernel) {
  EXPECT_THAT(refusal(Kernel::stats), testing::HasSubstr("call Plan::statistics"));
  m_arguments.o = {};
  EXPECT_THAT(refusal(Kernel::fused), testing::HasSubstr("needs a plan for stats"));
}

}  // namespace
}  // namespace flashpad::detail
