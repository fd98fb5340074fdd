// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/fusing.hpp"

#include "model/lengths.hpp"

#include <gtest/gtest.h>

namespace flashpad::model {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
constexpr double gib = 1024 * mib;

Work square(std::int64_t n, std::int64_t d, DType dtype) {
  Work work;
  work.shape = {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = n, .seq_k = n, .head_dim = d, .value_dim = d};
  work.dtype = dtype;
  return work;
}

TEST(OneHead, HasTheTrafficOfTheModulesTable) {
  struct Row {
    double n, scores, fused, ratio;
  };
  for (Row const& row : {Row{1024, 2, 1, 9}, Row{4096, 32, 4, 33}, Row{16384, 512, 16, 129}}) {
    OneHead const head{row.n, 128, 2};
    EXPECT_EQ(head.scores(), row.scores * mib);
    EXPECT_EQ(head.fused(), row.fused * mib);
    EXPECT_EQ(head.ratio(), row.ratio);
    EXPECT_EQ(head.unfused() / head.fused(), row.ratio);
  }
  EXPECT_EQ((OneHead{16384, 128, 2}.scores() / OneHead{16384, 128, 2}.fused()), 32);
  EXPECT_EQ((OneHead{4096, 128, 2}.unfused()), 132 * mib);
  EXPECT_EQ((OneHead{4096, 128, 2}.fused()), 4 * mib);
}

TEST(OneHead, RatioDoesNotKnowTheElement) {
  for (double const element : {1.0, 2.0, 4.0, 8.0}) {  // 1: fp8
    OneHead const head{4096, 128, element};
    EXPECT_EQ(head.unfused() / head.fused(), 33);
  }
  EXPECT_EQ((OneHead{4096, 128, 1}.unfused()), (OneHead{4096, 128, 2}.unfused()) / 2) << "fp8 halves both";
  EXPECT_EQ((OneHead{4096, 128, 1}.fused()), (OneHead{4096, 128, 2}.fused()) / 2);
}

TEST(OneHead, IntensityOfUnfusedEndsAtHalfOfD) {
  OneHead const head{4096, 128, 2};
  EXPECT_EQ(head.intensity_limit(), 64);
  EXPECT_NEAR(head.intensity_unfused(), 62.1, 0.05);
  EXPECT_NEAR(head.intensity_unfused() / 64, 0.97, 0.001) << "within 3 % of its ceiling";
  EXPECT_DOUBLE_EQ(head.intensity_unfused(), head.flops() / head.unfused());
  EXPECT_EQ(head.intensity_fused(), 2048);
  EXPECT_DOUBLE_EQ(head.intensity_fused(), head.flops() / head.fused());
}

// Two ways to the same numbers: the closed forms, and the counts that reports are made of.
TEST(OneHead, AgreesWithTheCounts) {
  for (DType const dtype : {DType::fp16, DType::fp32, DType::fp64}) {
    for (std::int64_t const n : {100, 1024, 5000}) {
      Work const work = square(n, 64, dtype);
      OneHead const head{static_cast<double>(n), 64, static_cast<double>(size_of(dtype))};
      EXPECT_DOUBLE_EQ(head.unfused(), bytes_model(Kernel::naive_vendor, work));
      EXPECT_DOUBLE_EQ(head.fused(), bytes_model(Kernel::fused, work));
      EXPECT_DOUBLE_EQ(head.flops(), flops(Kernel::fused, work));
    }
  }
}

TEST(ComputeBound, OfFusedBeginsAtTheRidgeTimesTheElement) {
  // The module's ridge: 1000 TFLOP/s over 5 TB/s.
  EXPECT_EQ(compute_bound_from(Kernel::fused, square(1, 128, DType::fp16), 1000e12 / 5e12), 400);
  EXPECT_EQ(compute_bound_from(Kernel::fused, square(1, 64, DType::fp32), 200), 800);
  Work causal = square(1, 128, DType::fp16);
  causal.mask = Mask::causal();  // half of the operations, less half a diagonal: (N + 1) / 4 a byte
  EXPECT_EQ(compute_bound_from(Kernel::fused, causal, 200), 799);
}

TEST(ComputeBound, OfUnfusedNeverComesAboveItsLimit) {
  Work const work = square(1, 128, DType::fp16);
  EXPECT_FALSE(compute_bound_from(Kernel::naive_vendor, work, 200).has_value());
  EXPECT_NEAR(*intensity_limit(Kernel::naive_vendor, work), 64, 1e-3);
  EXPECT_FALSE(intensity_limit(Kernel::fused, work).has_value());
  // N d / (2 (N + d)) = 32 at N = d.
  EXPECT_EQ(compute_bound_from(Kernel::naive_vendor, work, 32), 128);
}

TEST(ComputeBound, OfADecodeStepHasALimit) {
  Work work = square(1, 128, DType::fp16);
  work.shape.seq_q = 16;
  work.shape.seq_k = 1000;
  EXPECT_EQ(at_length(work, 5000).shape.seq_q, 16);
  EXPECT_EQ(at_length(work, 5000).shape.seq_k, 5000);
  // 4 * 16 N d operations, 2 (2 * 16 d + 2 N d) bytes: 16 a byte as N grows.
  EXPECT_FALSE(compute_bound_from(Kernel::fused, work, 16.1).has_value());
  EXPECT_EQ(compute_bound_from(Kernel::fused, work, 8), 16);
}

TEST(ComputeBound, BehindAWindowUnfusedFallsAgain) {
  Work work = square(1, 128, DType::fp16);
  work.mask = Mask::window(1000, 0);
  EXPECT_EQ(intensity_limit(Kernel::naive_vendor, work), 0);
  EXPECT_FALSE(compute_bound_from(Kernel::naive_vendor, work, 20).has_value()) << "not for good";
}

TEST(Tiles, CausalWalkVisitsAboutHalf) {
  EXPECT_EQ(causal_share(1), 1);
  EXPECT_EQ(causal_share(4), 10.0 / 16);
  EXPECT_EQ(causal_share(16), 17.0 / 32);
}

TEST(OnChip, AccumulatorIsWhatTheModuleSays) {
  double const small = accumulator_bytes(64, 64, DType::fp16);
  double const large = accumulator_bytes(128, 128, DType::fp16);
  EXPECT_EQ(small, 16 * kib);
  EXPECT_EQ(large, 64 * kib);
  EXPECT_EQ(accumulator_bytes(64, 64, DType::fp64), 32 * kib);
  EXPECT_EQ(registers_per_lane(small, 4, 64), 16);  // four wavefronts of 64: 256 lanes
  EXPECT_EQ(registers_per_lane(small, 4, 32), 32);  // four warps of 32: 128 lanes
  EXPECT_EQ(registers_per_lane(large, 4, 64), 64);
}

TEST(Thresholds, AreThoseOfTheModulesDrill) {
  EXPECT_EQ(length_past(256 * mib, 2), 11586);
  EXPECT_EQ(length_past(192 * gib, 2), 321060);
}

}  // namespace
}  // namespace flashpad::model
