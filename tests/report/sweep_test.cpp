// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/sweep.hpp"

#include "model/lengths.hpp"

#include <gmock/gmock.h>

namespace flashpad::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Row row_at(std::int64_t n, char const* kernel, std::optional<double> speedup) {
  Row row;
  row.case_name = "b1_h1_n" + std::to_string(n) + "_d64_fp32_none_" + kernel;
  row.kernel = kernel;
  row.backend = "openmp";
  row.dtype = "fp32";
  row.shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = n, .seq_k = n, .head_dim = 64, .value_dim = 64};
  row.status = Status::ok;
  row.speedup_vs_naive = speedup;
  return row;
}

std::vector<Row> sweep(std::vector<double> const& speedups) {
  std::vector<Row> rows;
  std::int64_t n = 128;
  for (double const speedup : speedups) {
    rows.push_back(row_at(n, "naive", 1.0));
    rows.push_back(row_at(n, "fused", speedup));
    n *= 2;
  }
  return rows;
}

TEST(Sweep, TheModulesLengths) {
  EXPECT_EQ(model::length_past(256.0 * 1024 * 1024, 2), 11586);
  EXPECT_EQ(model::length_past(192.0 * 1024 * 1024 * 1024, 2), 321060);
  EXPECT_EQ(model::length_past(4 * 100.0, 4), 11) << "100 scores fit exactly";
  EXPECT_EQ(model::length_past(0, 4), 1);
}

TEST(Sweep, NamesTheCrossover) {
  auto const found = crossovers(sweep({0.5, 0.9, 1.2, 2.0}));
  ASSERT_EQ(found.size(), 1u) << "naive beside itself is none";
  EXPECT_EQ(found[0].series, "b1_h1_n*_d64_fp32_none_fused");
  EXPECT_EQ(found[0].behind, 256);
  EXPECT_EQ(found[0].ahead, 512);
  EXPECT_THAT(sweep_text(sweep({0.5, 0.9, 1.2, 2.0}), {}),
              HasSubstr("fused passes naive between N = 256 and 512 (0.50x at 128, 2.00x at 1024)"));
}

TEST(Sweep, WhatFallsBackIsNoCrossoverYet) {
  auto const found = crossovers(sweep({1.5, 0.9, 1.2}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].behind, 256);
  EXPECT_EQ(found[0].ahead, 512);
}

TEST(Sweep, SaysWhereThereIsNone) {
  EXPECT_THAT(sweep_text(sweep({1.5, 2.0}), {}),
              HasSubstr("ahead of naive at every length, from N = 128 (1.50x) to 256"));
  EXPECT_THAT(sweep_text(sweep({0.5, 1.0}), {}),
              HasSubstr("not ahead of naive at N = 256 (1.00x), the longest"));
}

TEST(Sweep, NamesTheLengthThatDoesNotFitAndWhatItAskedFor) {
  std::vector<Row> rows = sweep({2, 3});
  Row oom = row_at(512, "naive", std::nullopt);
  oom.status = Status::oom;
  oom.bytes_needed = 3.0 * 1024 * 1024;
  rows.push_back(oom);
  rows.push_back(row_at(512, "fused", std::nullopt));
  std::string const text = sweep_text(rows, {{"memory_limit", 256.0 * 1024 * 1024}, {"cache", 0}});
  EXPECT_THAT(
      text,
      HasSubstr(
          "out of memory [b1_h1_n*_d64_fp32_none_naive]: from N = 512 on, where naive asks for 3.00 MiB"));
  EXPECT_THAT(
      text,
      HasSubstr("S of one head, 4 bytes a score, first exceeds the memory_limit (256.00 MiB) at N = 8193"));
  EXPECT_THAT(text, Not(HasSubstr("cache"))) << "a limit that is not known";
  EXPECT_EQ(crossovers(rows)[0].last, 256) << "naive has no time beyond";
}

TEST(Sweep, OneLengthIsNone) { EXPECT_THAT(sweep_text(sweep({2}), {{"cache", 1e6}}), IsEmpty()); }

}  // namespace
}  // namespace flashpad::report
