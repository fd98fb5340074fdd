// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/traffic_table.hpp"

#include "rows.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace flashpad::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Row profiled_row() {
  Row row = full_row();
  row.bytes_measured = 8e6;
  row.counters->cycles.reset();
  row.counters->instructions.reset();
  row.counters->cache_misses.reset();
  row.counters->flops.reset();
  row.counters->simulated_bytes.reset();
  return row;
}

TEST(TrafficTable, PutsModelAndMeasurementSideBySide) {
  std::string const text = traffic_table("profile", {profiled_row()});
  for (char const* cell : {"7.63M", "8.58M", "5.72M", "1.91M", "1.00x", "9x/7.5x", "88%", "12%", "  64"})
    EXPECT_THAT(text, HasSubstr(cell)) << cell;
}

TEST(TrafficTable, LeavesOutWhatNobodyCounted) {
  std::string const text = traffic_table("profile", {profiled_row()});
  for (char const* header : {"cycles", "misses", "simulated"}) EXPECT_THAT(text, Not(HasSubstr(header)));
  Row simulated = full_row();
  simulated.counters = Counters();
  simulated.counters->simulated_bytes = 3e6;
  std::string const other = traffic_table("profile", {simulated});
  EXPECT_THAT(other, HasSubstr("simulated"));
  for (char const* header : {"read", "hits", "occ.", "/model"}) EXPECT_THAT(other, Not(HasSubstr(header)));
}

TEST(TrafficTable, FitsTheTerminal) {
  Row other = profiled_row();
  other.case_name = "b16_h32_kv8_n16384x32768_d128_fp16_window[1023,0]_bnhd_hopper_t128x128";
  std::istringstream lines(traffic_table("profile", {profiled_row(), other}));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  note")) continue;
    EXPECT_LE(line.size(), 120u) << line;
  }
}

}  // namespace
}  // namespace flashpad::report
