// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/memory.hpp"

#include <gtest/gtest.h>

namespace flashpad::model {
namespace {

Work work_of(std::int64_t n) {
  Work work;
  work.shape = {
      .batch = 1, .heads = 2, .kv_heads = 1, .seq_q = n, .seq_k = n, .head_dim = 16, .value_dim = 32};
  return work;
}

TEST(Footprint, CountsEveryBuffer) {
  Footprint const need = footprint(Kernel::naive, work_of(10));
  EXPECT_DOUBLE_EQ(need.elements, 4 * (320 + 480));
  EXPECT_DOUBLE_EQ(need.inputs, 1280 + 768 + 1280) << "K has 640 bytes";
  EXPECT_DOUBLE_EQ(need.outputs, 4 * 640 + 4 * 20);
  EXPECT_DOUBLE_EQ(need.driver, 12 * 800 + 24 * 640 + 32 * 20);
  EXPECT_DOUBLE_EQ(need.workspace_min, 400);
  EXPECT_DOUBLE_EQ(footprint(Kernel::fused, work_of(10)).workspace_min, 0);
  EXPECT_DOUBLE_EQ(footprint(Kernel::stats, work_of(10)).outputs, 2 * 4 * 20);
}

TEST(Footprint, DoesNotOverflow) {
  Work work = work_of(std::int64_t{1} << 40);
  work.shape.batch = std::int64_t{1} << 40;
  EXPECT_GT(footprint(Kernel::naive, work).inputs, 1e25);
}

constexpr Footprint need = {.inputs = 100, .outputs = 50, .driver = 200, .workspace_min = 30};

TEST(Fit, RefusesWhatDoesNotFitAndSaysHowMuchItTakes) {
  Fit const result = fit(need, {.host = 379, .device = {}}, 8);
  EXPECT_FALSE(result.fits);
  EXPECT_DOUBLE_EQ(result.needed, 380);
}

TEST(Fit, DropsCopiesBeforeItGivesUp) {
  EXPECT_EQ(fit(need, {.host = 380, .device = {}}, 8).copies, 1);
  EXPECT_EQ(fit(need, {.host = 580, .device = {}}, 8).copies, 3);
  EXPECT_EQ(fit(need, {.host = 5800, .device = {}}, 8).copies, 8);
  EXPECT_TRUE(fit(need, {.host = 380, .device = {}}, 8).fits);
}

TEST(Fit, LeavesTheRestToTheWorkspace) {
  EXPECT_DOUBLE_EQ(fit(need, {.host = 380, .device = {}}, 8).workspace, 30);
  EXPECT_DOUBLE_EQ(fit(need, {.host = 2000, .device = {}}, 2).workspace, 2000 - 250 - 200);
}

TEST(Fit, ChecksDeviceAndHostApart) {
  EXPECT_TRUE(fit(need, {.host = 200, .device = 180}, 1).fits);
  EXPECT_FALSE(fit(need, {.host = 1000, .device = 179}, 1).fits);
  EXPECT_FALSE(fit(need, {.host = 199, .device = 1000}, 1).fits);
}

TEST(Copies, AreMoreThanTwiceTheCache) {
  EXPECT_EQ(copies_past_cache(10, 100), 21);
  EXPECT_EQ(copies_past_cache(201, 100), 1);
  EXPECT_EQ(copies_past_cache(200, 100), 2);
  EXPECT_EQ(copies_past_cache(0, 100), 1);
  EXPECT_EQ(copies_past_cache(10, 0), 1);
}

}  // namespace
}  // namespace flashpad::model
