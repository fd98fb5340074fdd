// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/traffic_table.hpp"

#include "report/columns.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace flashpad::report {

namespace {

using Number = std::optional<double> Counters::*;

// "7.63M": a table of many columns is short of room. M is 2^20.
std::string bytes_cell(std::optional<double> const& bytes) {
  if (!bytes) return "-";
  constexpr std::string_view units = "KMGTPE";
  double value = *bytes;
  std::size_t unit = 0;
  while (value >= 1024 && unit < units.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit - 1]);
}

std::string percent_cell(std::optional<double> const& fraction) {
  return fraction ? fmt::format("{:.0f}%", 100 * *fraction) : "-";
}

std::string count_cell(std::optional<double> const& count) { return number_or_dash(count, "{:.3g}"); }

template <class Format>
Column counted(char const* header, Number number, Format format) {
  return {header, false,
          [number, format](Row const& row) { return row.counters ? format((*row.counters).*number) : "-"; }};
}

std::string ratio_cell(Row const& row) {
  if (!row.bytes_measured || !row.bytes_model || *row.bytes_model <= 0) return "-";
  return fmt::format("{:.2f}x", *row.bytes_measured / *row.bytes_model);
}

std::string saved_cell(Row const& row) {
  if (!row.saved_model) return "-";
  return fmt::format("{:.3g}x/{}", *row.saved_model, number_or_dash(row.saved_measured, "{:.3g}x"));
}

std::vector<Column> all_columns() {
  return {
      {"case", true, [](Row const& r) { return r.case_name; }},
      {"kernel", true, [](Row const& r) { return r.kernel; }},
      {"tile", true, [](Row const& r) { return r.tile.value_or("-"); }},
      {"time", false, [](Row const& r) { return r.median_s ? format_seconds(*r.median_s) : "-"; }},
      {"model", false, [](Row const& r) { return bytes_cell(r.bytes_model); }},
      {"tiles", false, [](Row const& r) { return bytes_cell(r.bytes_tiles); }},
      counted("L2", &Counters::l2_bytes, bytes_cell),
      counted("read", &Counters::dram_read_bytes, bytes_cell),
      counted("write", &Counters::dram_write_bytes, bytes_cell),
      {"/model", false, ratio_cell},
      {"saved", false, saved_cell},
      counted("hits", &Counters::l2_hit_rate, percent_cell),
      counted("occ.", &Counters::occupancy, percent_cell),
      counted("spills", &Counters::spill_bytes, bytes_cell),
      counted("cycles", &Counters::cycles, count_cell),
      counted("instr.", &Counters::instructions, count_cell),
      counted("FLOPs", &Counters::flops, count_cell),
      counted("misses", &Counters::cache_misses, count_cell),
      counted("simulated", &Counters::simulated_bytes, bytes_cell),
      {"status", true,
       [](Row const& r) { return r.status == Status::ok ? "-" : std::string(name(r.status)); }},
  };
}

}  // namespace

std::string traffic_table(std::string const& title, std::vector<Row> const& rows) {
  std::vector<Column> columns = all_columns();
  std::erase_if(columns, [&](Column const& column) {
    return std::all_of(rows.begin(), rows.end(), [&](Row const& row) { return column.cell(row) == "-"; });
  });
  return title + '\n' + aligned(columns, rows) + notes(rows);
}

}  // namespace flashpad::report
