// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/counts.hpp"

#include <flashpad/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace flashpad::model {
namespace {

Work square(std::int64_t n, std::int64_t d, DType dtype) {
  Work work;
  work.shape = {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = n, .seq_k = n, .head_dim = d, .value_dim = d};
  work.dtype = dtype;
  return work;
}

// 1 + N/d where scores, probabilities and elements are equally wide: float32 with float32 scores.
TEST(ByteRatio, IsOnePlusNOverDWhereAllWidthsAreEqual) {
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::fused, square(1024, 128, DType::fp32)), 9);
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::fused, square(4096, 128, DType::fp32)), 33);
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::fused, square(16384, 128, DType::fp32)), 129);
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::fused, square(1024, 128, DType::fp64)), 9);
}

TEST(ByteRatio, CountsFloatScoresOfSixteenBitInputsAsFloats) {
  // 8 N d = 1 MiB of arguments; scores and probabilities 4 x 4 MiB.
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::fused, square(1024, 128, DType::bf16)), 17);
  Work work = square(1024, 128, DType::fp16);
  work.probabilities_in_input_type = true;  // 2 x 4 MiB + 2 x 2 MiB
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::fused, work), 13);
}

TEST(ByteRatio, OfTheVendorsProductCountsScoresInTheInputsType) {
  // 1 MiB of arguments, 4 x 2 MiB of scores and probabilities; naive has 17 MiB.
  EXPECT_DOUBLE_EQ(bytes_model(Kernel::naive_vendor, square(1024, 128, DType::bf16)), 9.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::naive_vendor, square(1024, 128, DType::bf16)), 17.0 / 9);
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::naive_vendor, square(1024, 128, DType::fp32)), 1);
  EXPECT_DOUBLE_EQ(naive_workspace_min(Kernel::naive_vendor, square(1001, 64, DType::fp16)), 1001 * 1008 * 2);
  EXPECT_FALSE(bytes_tiles(Kernel::naive_vendor, square(1024, 64, DType::fp16), {128, 128}).has_value());
}

TEST(ByteRatio, IsOneForNaiveAndNothingForOtherWork) {
  EXPECT_DOUBLE_EQ(*byte_ratio(Kernel::naive, square(1024, 64, DType::fp32)), 1);
  EXPECT_FALSE(byte_ratio(Kernel::stats, square(1024, 64, DType::fp32)).has_value());
  EXPECT_FALSE(byte_ratio(Kernel::fused, square(0, 64, DType::fp32)).has_value());
}

TEST(Bytes, ScoresOutweighInputsAsInTheDrills) {
  Work work = square(16384, 128, DType::fp16);
  EXPECT_DOUBLE_EQ(io_bytes(Kernel::fused, work), 16.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(2.0 * 16384 * 16384, 32 * io_bytes(Kernel::fused, work));  // one fp16 score matrix
  EXPECT_DOUBLE_EQ(bytes_model(Kernel::fused, square(4096, 128, DType::fp16)), 4.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(bytes_model(Kernel::naive, square(4096, 128, DType::fp32)), 264.0 * 1024 * 1024);
}

TEST(Bytes, CountEveryDimensionOfTheShape) {
  Work work;
  work.shape = {
      .batch = 2, .heads = 6, .kv_heads = 3, .seq_q = 5, .seq_k = 7, .head_dim = 16, .value_dim = 24};
  work.dtype = DType::bf16;
  // 2 bytes * 2 * (6*5*40 + 3*7*40) = 2*2*2040
  EXPECT_DOUBLE_EQ(io_bytes(Kernel::fused, work), 8160);
  EXPECT_DOUBLE_EQ(bytes_model(Kernel::naive, work), 8160 + 2 * 6 * 5 * 7 * 16);
  // 2 bytes * 2 * 16 * (6*5 + 3*7), and two float statistics of 2*6*5 rows
  EXPECT_DOUBLE_EQ(io_bytes(Kernel::stats, work), 3264 + 480);
  EXPECT_DOUBLE_EQ(bytes_model(Kernel::stats, work), 3744);
  work.writes_lse = true;
  EXPECT_DOUBLE_EQ(io_bytes(Kernel::fused, work), 8160 + 4 * 60);
  work.dtype = DType::fp64;
  EXPECT_DOUBLE_EQ(io_bytes(Kernel::fused, work), 4 * 8160 + 8 * 60);
}

TEST(Flops, CountVisiblePairsExactly) {
  Work work = square(4, 16, DType::fp32);
  EXPECT_DOUBLE_EQ(flops(Kernel::fused, work), 2 * 32 * 16);
  work.mask = Mask::causal();  // 1 + 2 + 3 + 4
  EXPECT_DOUBLE_EQ(flops(Kernel::fused, work), 2 * 32 * 10);
  EXPECT_DOUBLE_EQ(flops(Kernel::naive, work), 2 * 32 * 10);
  EXPECT_DOUBLE_EQ(flops(Kernel::stats, work), 2 * 16 * 10);
  work.mask = Mask::window(1, 0);  // 1 + 2 + 2 + 2
  EXPECT_DOUBLE_EQ(flops(Kernel::fused, work), 2 * 32 * 7);
  work.shape.seq_k = 2;  // rows 0 and 1 of a causal mask see nothing: 0 + 0 + 1 + 2
  work.mask = Mask::causal();
  EXPECT_DOUBLE_EQ(flops(Kernel::fused, work), 2 * 32 * 3);
}

TEST(Flops, CountQueryHeadsNotKeyHeads) {
  Work work;
  work.shape = {
      .batch = 3, .heads = 8, .kv_heads = 2, .seq_q = 10, .seq_k = 20, .head_dim = 32, .value_dim = 64};
  EXPECT_DOUBLE_EQ(flops(Kernel::fused, work), 2.0 * 96 * 200 * 24);
  EXPECT_DOUBLE_EQ(flops(Kernel::stats, work), 2.0 * 32 * 200 * 24);
}

TEST(Flops, StayExactPastThirtyTwoBits) {
  EXPECT_DOUBLE_EQ(flops(Kernel::fused, square(1 << 20, 128, DType::fp16)), 4.0 * 128 * 1099511627776.0);
}

TEST(Intensity, OfNaiveSaturatesAtHalfTheHeadDimension) {
  Work work = square(4096, 128, DType::fp32);
  double const element_widths = 4.0 / 2.0;  // the module's 62.1 is for 2-byte elements
  EXPECT_NEAR(element_widths * flops(Kernel::naive, work) / bytes_model(Kernel::naive, work), 62.06, 0.01);
}

TEST(BytesTiles, OfOneTileAreTheArgumentsOnce) {
  Work work = square(64, 32, DType::fp32);
  EXPECT_DOUBLE_EQ(*bytes_tiles(Kernel::fused, work, {64, 64}), io_bytes(Kernel::fused, work));
  EXPECT_DOUBLE_EQ(*bytes_tiles(Kernel::stats, work, {64, 16}), io_bytes(Kernel::stats, work));
}

TEST(BytesTiles, ReadKeysAndValuesOnceAQueryTile) {
  Work work = square(128, 32, DType::fp16);
  double const one = 2.0 * 128 * 32;  // bytes of each of Q, K, V and O
  EXPECT_DOUBLE_EQ(*bytes_tiles(Kernel::fused, work, {32, 64}), 2 * one + 4 * 2 * one);
  work.mask = Mask::causal();  // query tiles see 32, 64, 96 and 128 keys
  EXPECT_DOUBLE_EQ(*bytes_tiles(Kernel::fused, work, {32, 32}),
                   2 * one + 2 * one * (32 + 64 + 96 + 128) / 128);
}

TEST(BytesTiles, OfAWalkThatSkipsNothingAreThoseWithoutAMask) {
  Work work = square(128, 32, DType::fp16);
  double const unmasked = *bytes_tiles(Kernel::fused, work, {32, 32});
  work.mask = Mask::causal();
  work.skip_hidden_tiles = false;
  EXPECT_DOUBLE_EQ(*bytes_tiles(Kernel::fused, work, {32, 32}), unmasked);
}

TEST(BytesTiles, CountEveryQueryHeadOfAGroup) {
  Work work = square(64, 32, DType::fp32);
  work.shape.heads = 4;  // K and V are one head; each of four query heads reads them
  double const one = 4.0 * 64 * 32;
  EXPECT_DOUBLE_EQ(*bytes_tiles(Kernel::fused, work, {64, 64}), 4 * 2 * one + 4 * 2 * one);
}

TEST(BytesTiles, AreNullWhereThereIsNoTile) {
  EXPECT_FALSE(bytes_tiles(Kernel::naive, square(64, 32, DType::fp32), {64, 64}).has_value());
  EXPECT_FALSE(bytes_tiles(Kernel::fused, square(64, 32, DType::fp32), {}).has_value());
}

// Counts keys pair by pair, from the mask's definition alone.
double bytes_by_pairs(Work const& work, Tile tile) {
  Shape const& s = work.shape;
  double keys = 0;
  for (std::int64_t row = 0; row < s.seq_q; row += tile.q) {
    std::int64_t first = s.seq_k;
    std::int64_t last = -1;
    for (std::int64_t i = row; i < std::min<std::int64_t>(row + tile.q, s.seq_q); ++i) {
      for (std::int64_t j = 0; j < s.seq_k; ++j) {
        std::int64_t const p = i + s.seq_k - s.seq_q;
        bool const hidden = (work.mask.left >= 0 && j < p - work.mask.left) ||
                            (work.mask.right >= 0 && j > p + work.mask.right);
        if (hidden) continue;
        first = std::min(first, j);
        last = std::max(last, j);
      }
    }
    if (last >= first) keys += static_cast<double>(last - first + 1);
  }
  double const e = size_of(work.dtype);
  double const width = static_cast<double>(s.head_dim + s.value_dim);
  return e * static_cast<double>(s.batch * s.heads) * width * (static_cast<double>(s.seq_q) + keys);
}

TEST(BytesTiles, AgreeWithACountByPairs) {
  std::vector<Mask> const masks = {Mask::none(),       Mask::causal(),      Mask::window(3, 2),
                                   Mask::window(0, 0), Mask::window(-1, 5), Mask::window(40, -1)};
  std::vector<std::pair<int, int>> const lengths = {{33, 33}, {7, 50}, {50, 7}, {1, 64}, {64, 1}, {5, 0}};
  for (Mask const& mask : masks) {
    for (auto const& [seq_q, seq_k] : lengths) {
      for (Tile const tile : {Tile{8, 8}, Tile{16, 4}, Tile{1, 7}, Tile{64, 64}}) {
        Work work;
        work.shape = {.batch = 2,
                      .heads = 4,
                      .kv_heads = 2,
                      .seq_q = seq_q,
                      .seq_k = seq_k,
                      .head_dim = 16,
                      .value_dim = 24};
        work.mask = mask;
        EXPECT_DOUBLE_EQ(*bytes_tiles(Kernel::fused, work, tile), bytes_by_pairs(work, tile))
            << to_string(mask) << " " << seq_q << "x" << seq_k << " tile " << tile.q << "x" << tile.k;
      }
    }
  }
}

TEST(Workspace, OfNaiveHoldsOneHeadOfScores) {
  EXPECT_DOUBLE_EQ(naive_workspace_min(Kernel::naive, square(1000, 64, DType::fp32)), 4e6);
  EXPECT_DOUBLE_EQ(naive_workspace_min(Kernel::naive, square(1000, 64, DType::fp64)), 8e6);
  Work work = square(1000, 64, DType::bf16);
  EXPECT_DOUBLE_EQ(naive_workspace_min(Kernel::naive, work), 4e6 + 2000 * 128 * 4);
  work.probabilities_in_input_type = true;
  EXPECT_DOUBLE_EQ(naive_workspace_min(Kernel::naive, work), 6e6 + 2000 * 128 * 4);
}

// What the kernel holds, counted the slow way: rows that see a key, times keys that some row sees.
double scores_held(Shape const& s, Mask const& mask) {
  std::int64_t rows = 0;
  std::int64_t first = s.seq_k;
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < s.seq_q; ++i) {
    bool sees = false;
    for (std::int64_t j = 0; j < s.seq_k; ++j) {
      std::int64_t const distance = j - (i + s.seq_k - s.seq_q);
      if (mask.left >= 0 && distance < -mask.left) continue;
      if (mask.right >= 0 && distance > mask.right) continue;
      sees = true;
      first = std::min(first, j);
      last = std::max(last, j);
    }
    if (sees) ++rows;
  }
  return last < first ? 0 : static_cast<double>(rows * (last - first + 1));
}

TEST(Naive, HoldsTheRowsThatSeeAKeyAndTheKeysThatARowSees) {
  Work work = square(1, 64, DType::fp32);
  for (std::int64_t const q : {1, 3, 9}) {
    for (std::int64_t const k : {0, 1, 4, 9, 20}) {
      for (std::int64_t const left : {-1, 0, 2, 30}) {
        for (std::int64_t const right : {-1, 0, 2, 30}) {
          work.shape.seq_q = q;
          work.shape.seq_k = k;
          work.mask = {left, right};
          EXPECT_EQ(naive_workspace_min(Kernel::naive, work), 4 * scores_held(work.shape, work.mask))
              << q << "x" << k << " " << left << "," << right;
        }
      }
    }
  }
}

TEST(Naive, NeedsNothingWithoutRows) {
  for (auto const member : {&Shape::batch, &Shape::heads, &Shape::seq_q}) {
    Work work = square(std::int64_t{1} << 30, 64, DType::bf16);
    work.shape.*member = 0;
    EXPECT_EQ(naive_workspace_min(Kernel::naive, work), 0);
  }
}

TEST(Counts, RefuseAuto) {
  EXPECT_THROW(flops(Kernel::automatic, square(8, 16, DType::fp32)), Error);
  EXPECT_THROW(io_bytes(Kernel::automatic, square(8, 16, DType::fp32)), Error);
}

}  // namespace
}  // namespace flashpad::model
