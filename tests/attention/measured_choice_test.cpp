// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/measured_choice.hpp"

#include <gmock/gmock.h>

// What `auto` says of hopper and by what it chooses, without a GPU.

namespace flashpad::detail {
namespace {

Shape shape(std::int64_t queries, std::int64_t keys, std::int64_t dim, std::int64_t heads = 8) {
  return {2, heads, heads, queries, keys, dim, dim};
}

Kernel chosen(Shape const& s) { return measured_choice(s)->kernel; }

TEST(MeasuredChoice, FollowsTheTable) {
  EXPECT_EQ(chosen(shape(128, 128, 32, 2048)), Kernel::hopper);
  EXPECT_EQ(chosen(shape(128, 128, 64, 2048)), Kernel::hopper);
  EXPECT_EQ(chosen({2, 8, 8, 128, 128, 64, 72}), Kernel::hopper);
  EXPECT_EQ(chosen(shape(1, 1 << 20, 256)), Kernel::hopper);
  EXPECT_EQ(measured_choice(shape(128, 128, 264)), nullptr);
}

std::string lead(Shape const& s, Mask const& mask = Mask::none(), DType dtype = DType::bf16) {
  return lead_of(*measured_choice(s), s, mask, dtype);
}

TEST(MeasuredChoice, TellsARatioOnlyOfWhatWasTimed) {
  EXPECT_EQ(lead(shape(4096, 4096, 128)),
            "measured 1.3 to 2.5 times fused at d = 96 and 128, 128 to 16k keys");
  EXPECT_EQ(lead(shape(128, 128, 32)), "measured 1.2 to 1.6 times fused at d = 32, 128, 1k and 8k keys");
  std::string const untimed =
      "hopper by what was measured in bf16, equal heads, seq_q = seq_k; not timed here";
  EXPECT_EQ(lead(shape(4096, 4096, 128), Mask::none(), DType::fp16), untimed);
  EXPECT_EQ(lead(shape(4096, 4096, 128), Mask::window(100, 0)), untimed);
  EXPECT_EQ(lead({2, 8, 8, 4096, 4096, 128, 64}), untimed);
  EXPECT_EQ(lead({2, 8, 4, 4096, 4096, 128, 128}), untimed);
  EXPECT_EQ(lead(shape(32768, 32768, 128)), untimed);
  EXPECT_EQ(lead(shape(100, 100, 128)), untimed);

  Shape const decode = {32, 64, 8, 16, 4096, 128, 128};
  EXPECT_EQ(lead(decode), "measured 6.5 to 10.8 times fused in decoding");
  EXPECT_EQ(lead(decode, Mask::causal()), untimed);
  EXPECT_EQ(lead(decode, Mask::none(), DType::fp16), untimed);
  for (Shape const& other : {Shape{32, 64, 8, 17, 4096, 128, 128}, Shape{31, 64, 8, 16, 4096, 128, 128},
                             Shape{32, 64, 64, 16, 4096, 128, 128}, Shape{32, 64, 8, 16, 4096, 256, 256}}) {
    EXPECT_EQ(lead(other), untimed);
  }
}

TEST(MeasuredChoice, SaysWhatTakesOtherTensors) {
  EXPECT_EQ(
      why_hopper("measured so", "mma"),
      "auto: hopper, measured so; fused (mma) takes calls with tensors that hopper's copy engine cannot "
      "address");
  EXPECT_EQ(why_hopper("", "simt").rfind("auto: hopper; fused (simt)", 0), 0u);
}

}  // namespace
}  // namespace flashpad::detail
