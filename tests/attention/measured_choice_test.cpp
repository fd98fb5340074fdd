// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/measured_choice.hpp"

#include <gmock/gmock.h>

// What `auto` says of hopper and by what it chooses, without a GPU.

namespace flashpad::detail {
namespace {

Shape shape(std::int64_t queries, std::int64_t keys, std::int64_t dim, std::int64_t heads = 8) {
  return {2, heads, heads, queries, keys, dim, dim};
}

constexpr std::int64_t many = 2048;  // heads, by a batch of two

Kernel chosen(Shape const& s, Mask const& mask = Mask::none()) { return measured_choice(s, mask)->kernel; }

TEST(MeasuredChoice, FollowsTheTable) {
  EXPECT_EQ(chosen(shape(128, 128, 32, many)), Kernel::fused);
  EXPECT_EQ(chosen(shape(128, 128, 32, many), Mask::causal()), Kernel::fused);
  EXPECT_EQ(chosen(shape(129, 129, 32, many)), Kernel::hopper);
  EXPECT_EQ(chosen(shape(128, 128, 32, 512)), Kernel::fused);
  EXPECT_EQ(chosen(shape(128, 128, 32, 511)), Kernel::hopper);
  EXPECT_EQ(chosen(shape(128, 128, 64, many)), Kernel::fused);
  EXPECT_EQ(chosen(shape(128, 128, 64, 1024)), Kernel::fused);
  EXPECT_EQ(chosen(shape(128, 128, 64, 1023)), Kernel::hopper);
  EXPECT_EQ(chosen(shape(128, 128, 64, many), Mask::causal()), Kernel::hopper);
  EXPECT_EQ(chosen(shape(128, 128, 72, many)), Kernel::hopper);
  EXPECT_EQ(chosen({2, many, many, 128, 128, 64, 72}), Kernel::hopper);
  EXPECT_EQ(chosen(shape(1, 1 << 20, 256)), Kernel::hopper);
  EXPECT_EQ(measured_choice(shape(128, 128, 264), Mask::none()), nullptr);
}

std::string lead(Shape const& s, Mask const& mask = Mask::none(), DType dtype = DType::bf16) {
  return lead_of(*measured_choice(s, mask), s, mask, dtype);
}

TEST(MeasuredChoice, TellsARatioOnlyOfWhatWasTimed) {
  EXPECT_EQ(lead(shape(4096, 4096, 128)),
            "measured 2.12 to 2.50 times fused at d = 128, 512 to 16k keys, 16384 tokens");
  EXPECT_EQ(lead(shape(128, 128, 32, many)),
            "measured fused 1.02 to 1.16 times hopper at d = 32, 128 keys, 1024 to 8192 heads");
  std::string const untimed =
      "hopper by what was measured in bf16, equal heads, seq_q = seq_k; not timed here";
  EXPECT_EQ(lead(shape(4096, 4096, 128), Mask::none(), DType::fp16), untimed);
  EXPECT_EQ(lead(shape(4096, 4096, 128), Mask::window(100, 0)), untimed);
  EXPECT_EQ(lead({2, 8, 8, 4096, 4096, 128, 64}), untimed);
  EXPECT_EQ(lead({2, 8, 4, 4096, 4096, 128, 128}), untimed);
  EXPECT_EQ(lead(shape(32768, 32768, 128)), untimed);
  EXPECT_EQ(lead(shape(100, 100, 128)), untimed);
  EXPECT_EQ(lead(shape(4, 128, 32, many)),
            "fused by what was measured in bf16, equal heads, seq_q = seq_k; not timed here");

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
