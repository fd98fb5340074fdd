// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/parallel.hpp"
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace flashpad::measure {
namespace {

TEST(ParallelRanges, CoverEveryIndexOnce) {
  for (std::int64_t const count : {0, 1, 7, 1000}) {
    std::vector<int> seen(static_cast<std::size_t>(count), 0);
    parallel_ranges(count, 3, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; })) << count;
  }
}

TEST(ParallelRanges, PassOnAnException) {
  EXPECT_THROW(parallel_ranges(100, 1,
                               [](std::int64_t i, std::int64_t) {
                                 if (i == 50) throw std::runtime_error("x");
                               }),
               std::runtime_error);
}

TEST(Cores, AreAtLeastOne) { EXPECT_GE(available_cores(), 1); }

TEST(Summary, OfAnOddAndAnEvenCount) {
  Summary const odd = summarise({5, 1, 3});
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.min, 1);
  EXPECT_DOUBLE_EQ(odd.spread, (4.0 - 2.0) / 3);
  EXPECT_DOUBLE_EQ(summarise({4, 1, 2, 3}).median, 2.5);
  EXPECT_DOUBLE_EQ(summarise({7}).median, 7);
  EXPECT_DOUBLE_EQ(summarise({7}).spread, 0);
}

}  // namespace
}  // namespace flashpad::measure
