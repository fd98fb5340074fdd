// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numeric/trial.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace flashpad::test {
namespace {

// On a GPU, where it is quick: every head dimension with every kind of mask and ragged lengths in turn.
class Grid : public testing::TestWithParam<Way> {};

std::vector<Way> device_ways() {
  std::vector<Way> ways = all_ways();
  std::erase_if(ways, [](Way const& way) { return way.backend != "cuda" && way.backend != "hip"; });
  return ways;
}
INSTANTIATE_TEST_SUITE_P(All, Grid, testing::ValuesIn(device_ways()), name_of);

TEST_P(Grid, EveryHeadDimensionMaskAndRaggedLength) {
  std::int64_t const lengths[] = {1, 17, 33, 63, 65, 127, 129, 191, 193, 257};
  std::size_t turn = 0;
  for (std::int64_t dim = 16; dim <= 256; dim += 8) {
    for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(37, 11)}) {
      Trial trial;
      std::int64_t const seq_q = lengths[turn % std::size(lengths)];
      std::int64_t const seq_k = lengths[turn * 3 / 2 % std::size(lengths)];
      trial.shape = {1, 2, turn % 2 == 0 ? 1 : 2, seq_q, seq_k, dim, turn % 5 == 0 ? 272 - dim : dim};
      trial.mask = mask;
      trial.distribution = turn % 3 == 0 ? Distribution::unbalanced : Distribution::normal;
      trial.seed = ++turn;
      expect_right(GetParam(), trial);
    }
  }
}

TEST(Tf32, ByName) {
  std::vector<Way> const ways = all_ways();
  bool const here =
      std::any_of(ways.begin(), ways.end(), [](Way const& way) { return way.engine == "mma-tf32x3"; });
  if (!here) GTEST_SKIP() << "no engine for it here";
  for (Kernel const kernel : {Kernel::fused, Kernel::stats}) {
    for (std::int64_t const dim : {32, 64, 128}) {
      Trial trial;
      trial.shape = {1, 2, 2, 129, 200, dim, dim};
      trial.mask = Mask::causal();
      expect_right({"cuda", kernel, "mma-tf32", DType::fp32}, trial);
    }
  }
}

}  // namespace
}  // namespace flashpad::test
