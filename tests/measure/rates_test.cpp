// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/session.hpp"

#include "fake_backend.hpp"

#include <gmock/gmock.h>

namespace flashpad::measure {
namespace {

using ::testing::HasSubstr;

struct Sweep {
  std::vector<Case> cases;
  std::vector<Row> rows;

  void add(std::string const& problem, Kernel kernel, double seconds, std::string const& backend = "openmp",
           Mask mask = Mask::none()) {
    Case one = small_case();
    one.problem_key = problem;
    one.kernel = kernel;
    one.mask = mask;
    cases.push_back(one);
    Row row;
    row.kernel = name(kernel);
    row.backend = backend;
    row.status = Status::ok;
    if (seconds > 0) row.median_s = seconds;
    rows.push_back(row);
  }
};

TEST(Join, ComparesWithNaiveOfTheSameProblemAndBackend) {
  Sweep sweep;
  sweep.add("a", Kernel::fused, 1);
  sweep.add("a", Kernel::naive, 4);
  sweep.add("b", Kernel::fused, 1);
  sweep.add("a", Kernel::fused, 8, "serial");
  sweep.add("a", Kernel::stats, 1);
  join(sweep.cases, sweep.rows);
  EXPECT_DOUBLE_EQ(*sweep.rows[0].speedup_vs_naive, 4);
  EXPECT_DOUBLE_EQ(*sweep.rows[1].speedup_vs_naive, 1);
  EXPECT_FALSE(sweep.rows[2].speedup_vs_naive.has_value());
  EXPECT_FALSE(sweep.rows[3].speedup_vs_naive.has_value());
  EXPECT_FALSE(sweep.rows[4].speedup_vs_naive.has_value()) << "stats is other work";
}

TEST(Join, NeedsATimeOfNaive) {
  Sweep sweep;
  sweep.add("a", Kernel::naive, 0);
  sweep.rows[0].status = Status::oom;
  sweep.add("a", Kernel::fused, 1);
  join(sweep.cases, sweep.rows);
  EXPECT_FALSE(sweep.rows[1].speedup_vs_naive.has_value());
}

TEST(Speedups, FailBelowWhatIsExpected) {
  Sweep sweep;
  sweep.add("a", Kernel::naive, 4);
  sweep.add("a", Kernel::fused, 2);
  sweep.add("b", Kernel::naive, 4);
  sweep.add("b", Kernel::fused, 3);
  join(sweep.cases, sweep.rows);
  check_speedups(sweep.cases, 2.0, sweep.rows);
  EXPECT_EQ(sweep.rows[0].status, Status::ok);
  EXPECT_EQ(sweep.rows[1].status, Status::ok);
  EXPECT_EQ(sweep.rows[3].status, Status::failed);
  EXPECT_THAT(sweep.rows[3].reason, HasSubstr("1.33x naive, expected 2.00x"));
  EXPECT_THAT(sweep.rows[3].reason, HasSubstr("spills"));
}

TEST(Speedups, BlameMissingSkipsWhenCausalIsNoFaster) {
  Sweep sweep;
  sweep.add("full", Kernel::naive, 4);
  sweep.add("full", Kernel::fused, 2);
  sweep.add("causal", Kernel::naive, 4, "openmp", Mask::causal());
  sweep.add("causal", Kernel::fused, 2, "openmp", Mask::causal());
  join(sweep.cases, sweep.rows);
  check_speedups(sweep.cases, 3.0, sweep.rows);
  EXPECT_THAT(sweep.rows[3].reason, HasSubstr("masked without skipping"));
  EXPECT_THAT(sweep.rows[1].reason, HasSubstr("spills"));
}

TEST(Rate, OfNaiveCallsSmallScoresCacheResident) {
  FakeBackend fake;
  fake.cache = 1e6;
  Case one = small_case();
  one.kernel = Kernel::naive;
  Choice choice;
  choice.kernel = Kernel::naive;
  choice.workspace_bytes = 1000;
  Row row;
  row.median_s = 2e-6;
  rate(one, choice, row);
  put_under_roof(one, choice, fake, row);  // 0.34 MB in 2 us are more than the fake's 1e11 bytes a second
  EXPECT_EQ(row.flag, "cache-resident");
  choice.workspace_bytes = 2e6;
  put_under_roof(one, choice, fake, row);
  EXPECT_EQ(row.flag, "suspect");
  EXPECT_FALSE(row.bytes_tiles.has_value());
}

}  // namespace
}  // namespace flashpad::measure
