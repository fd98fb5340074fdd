// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/measured_choice.hpp"

#include <gmock/gmock.h>

// What `auto` says of hopper and by what it chooses, without a GPU.

namespace flashpad::detail {
namespace {

Shape shape(std::int64_t queries, std::int64_t keys, std::int64_t dim) {
  return {2, 8, 8, queries, keys, dim, dim};
}

TEST(MeasuredChoice, FollowsTheTable) {
  EXPECT_EQ(measured_choice(shape(128, 128, 32))->kernel, Kernel::fused);
  EXPECT_EQ(measured_choice(shape(129, 129, 32))->kernel, Kernel::hopper);
  EXPECT_EQ(measured_choice(shape(128, 128, 40))->kernel, Kernel::hopper);
  EXPECT_EQ(measured_choice({2, 8, 8, 128, 128, 32, 40})->kernel, Kernel::hopper);
  EXPECT_EQ(measured_choice(shape(1, 1 << 20, 256))->kernel, Kernel::hopper);
  EXPECT_EQ(measured_choice(shape(128, 128, 264)), nullptr);
}

TEST(MeasuredChoice, TellsARatioOnlyOfWhatWasTimed) {
  Shape const prefill = shape(4096, 4096, 128), decode = shape(16, 4096, 128);
  EXPECT_EQ(why_hopper(measured_choice(prefill), prefill, "mma"),
            "auto: hopper, measured 0.93 to 3.7 times fused; fused (mma) takes calls with tensors that "
            "hopper's copy "
            "engine cannot address");
  EXPECT_EQ(lead_of(*measured_choice(decode), decode), "measured 6.4 to 10.8 times fused in decoding");
  Shape const more = shape(17, 4096, 128), fewer = shape(16, 4095, 128);
  for (Shape const& other : {more, fewer}) {
    EXPECT_EQ(lead_of(*measured_choice(other), other), "not timed beside fused where seq_q is not seq_k");
  }
  Shape const small = shape(128, 128, 32), few = shape(4, 128, 32);
  EXPECT_EQ(lead_of(*measured_choice(small), small),
            "measured fused 1.05 to 1.16 times hopper up to d = 32 and 128 keys");
  EXPECT_EQ(lead_of(*measured_choice(few), few),
            "fused by what was measured where seq_q = seq_k; not timed here");
  EXPECT_EQ(why_hopper(nullptr, prefill, "simt").rfind("auto: hopper; fused (simt)", 0), 0u);
}

}  // namespace
}  // namespace flashpad::detail
