// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/case_fields.hpp"

#include "experiment/case_name.hpp"

#include <gtest/gtest.h>

namespace flashpad::results {
namespace {

TEST(CaseFields, ReadEveryWord) {
  auto const fields = case_fields("b2_h8kv4_n512k640_d64v96_bf16_causal_scale0.5_seed3_fused_t64x64_noskip");
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->shape, (Shape{.batch = 2,
                                  .heads = 8,
                                  .kv_heads = 4,
                                  .seq_q = 512,
                                  .seq_k = 640,
                                  .head_dim = 64,
                                  .value_dim = 96}));
  EXPECT_EQ(fields->dtype, "bf16");
  EXPECT_EQ(fields->mask, "causal");
  EXPECT_EQ(fields->variant, "scale0.5 seed3");
  EXPECT_EQ(fields->kernel, "fused");
  EXPECT_EQ(fields->method, "fused t64x64 noskip");
}

TEST(CaseFields, ReadWhatTheExperimentWrites) {
  Case one;
  one.shape = {
      .batch = 1, .heads = 4, .kv_heads = 2, .seq_q = 100, .seq_k = 100, .head_dim = 32, .value_dim = 32};
  one.dtype = DType::fp64;
  one.mask = Mask::window(3, 4);
  one.kernel = Kernel::naive_vendor;
  one.backend = "serial";
  auto const fields = case_fields(sweep::problem_name(one) + "_" + sweep::method_name(one));
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->shape, one.shape);
  EXPECT_EQ(fields->dtype, "fp64");
  EXPECT_EQ(fields->kernel, "naive-vendor");
  EXPECT_EQ(fields->method, "naive-vendor serial");
}

TEST(CaseFields, LeaveOtherNamesAlone) {
  for (char const* name :
       {"", "fused", "BM_Something/8", "b2_h8_n512_d64_fp32_fused", "b2_h8_nX_d64_fp32_none_fused",
        "b2_h8_n5x_d64_fp32_none_fused", "b99999999999999999999_h8_n5_d64_fp32_none_fused"})
    EXPECT_FALSE(case_fields(name)) << name;
}

}  // namespace
}  // namespace flashpad::results
