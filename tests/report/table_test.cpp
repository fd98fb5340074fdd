// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/table.hpp"

#include "rows.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace flashpad::report {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> lines_of(std::string const& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Table, ShowsTheByteRatioBesideTheSpeedup) {
  std::vector<std::string> const lines = lines_of(table("title", {full_row()}));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0], "title");
  EXPECT_THAT(lines[1], HasSubstr("bytes  speedup"));
  EXPECT_THAT(lines[2], HasSubstr(" 9.0x    4.50x"));
  EXPECT_THAT(lines[2], HasSubstr("1.25 ms"));
  EXPECT_THAT(lines[2], HasSubstr("62%"));
  EXPECT_THAT(lines[2], HasSubstr("64x128"));
}

TEST(Table, AlignsItsColumns) {
  Row slow = full_row();
  slow.median_s = 123.0;
  slow.case_name = "quick-n16384-naive-and-longer";
  std::vector<std::string> const lines = lines_of(table("t", {full_row(), slow}));
  ASSERT_GE(lines.size(), 5u);
  std::size_t const end = lines[2].find("speedup") + 7;
  EXPECT_EQ(lines[3].find("4.50x") + 5, end);
  EXPECT_EQ(lines[4].find("4.50x") + 5, end);
}

TEST(Table, FitsTheTerminalWhateverTheNames) {
  Row row = full_row();
  row.case_name = std::string(200, 'x') + "-end";
  row.backend = "openmp";
  row.flag = "cache-resident";
  row.reason.clear();
  Row other = row;
  other.case_name = std::string(200, 'y') + "-other";
  for (std::string const& line : lines_of(table("t", {row, other}))) EXPECT_LE(line.size(), 120u) << line;
  EXPECT_THAT(table("t", {row, other}), HasSubstr("-end"));
}

TEST(Table, SaysWhyARowFailedOrRanOutOfMemory) {
  Row oom = full_row();
  oom.status = Status::oom;
  oom.reason = "needs 4.00 GiB";
  oom.median_s.reset();
  oom.max_abs_err.reset();
  oom.lse_max_err.reset();
  std::string const text = table("t", {oom});
  EXPECT_THAT(text, HasSubstr("  oom\n"));
  EXPECT_THAT(text, HasSubstr("oom [quick-n512-fused]: needs 4.00 GiB"));
}

TEST(Table, NeverCallsAnUncheckedRowOk) {
  Row row = full_row();
  row.flag.clear();
  row.verified.reset();
  EXPECT_THAT(table("t", {row}), HasSubstr("unverified"));
}

TEST(Table, FlagsTakeThePlaceOfOk) {
  Row row = full_row();
  EXPECT_THAT(table("t", {row}), HasSubstr("suspect"));
}

TEST(Table, SaysTheWordsThatEveryCaseBeginsWithOnce) {
  Row a = full_row();
  Row b = full_row();
  a.case_name = "quick-n512-fused";
  b.case_name = "quick-n1024-fused";
  a.reason.clear();
  b.reason.clear();
  std::string const text = table("t", {a, b});
  EXPECT_THAT(text, HasSubstr("cases: quick-...\n"));
  EXPECT_THAT(text, HasSubstr("\nn512-fused "));
  EXPECT_THAT(text, HasSubstr("\nn1024-fused"));
}

TEST(Format, Seconds) {
  EXPECT_EQ(format_seconds(1.234e-6), "1.23 us");
  EXPECT_EQ(format_seconds(45.67e-3), "45.7 ms");
  EXPECT_EQ(format_seconds(0.9994), "999 ms");
  EXPECT_EQ(format_seconds(2), "2.00 s");
}

TEST(Format, Bytes) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(3.5 * 1024 * 1024 * 1024), "3.50 GiB");
  EXPECT_EQ(format_bytes(0x1p63), "8.00 EiB");
}

}  // namespace
}  // namespace flashpad::report
