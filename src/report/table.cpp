// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/table.hpp"

#include "report/columns.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace flashpad::report {

namespace {

std::string error_cell(Row const& row) {
  std::optional<double> const& error = row.max_abs_err ? row.max_abs_err : row.lse_max_err;
  return error ? fmt::format("{:.1e}", *error) : "-";
}

std::string status_cell(Row const& row) {
  if (row.status != Status::ok) return std::string(name(row.status));
  if (!row.flag.empty()) return row.flag;
  return row.verified ? "ok" : "unverified";
}

std::vector<Column> columns() {
  return {
      {"case", true, [](Row const& r) { return r.case_name; }},
      {"kernel", true, [](Row const& r) { return r.kernel; }},
      {"backend", true, [](Row const& r) { return r.backend; }},
      {"tile", true, [](Row const& r) { return r.tile.value_or("-"); }},
      {"time", false, [](Row const& r) { return r.median_s ? format_seconds(*r.median_s) : "-"; }},
      {"TFLOP/s", false, [](Row const& r) { return number_or_dash(r.tflops, "{:.4f}"); }},
      {"roof", false,
       [](Row const& r) { return r.roof_fraction ? fmt::format("{:.0f}%", 100 * *r.roof_fraction) : "-"; }},
      {"error", false, error_cell},
      {"bound", false, [](Row const& r) { return number_or_dash(r.tolerance, "{:.0e}"); }},
      {"bytes", false, [](Row const& r) { return number_or_dash(r.byte_ratio, "{:.1f}x"); }},
      {"speedup", false, [](Row const& r) { return number_or_dash(r.speedup_vs_naive, "{:.2f}x"); }},
      {"status", true, status_cell},
  };
}

}  // namespace

std::string format_seconds(double seconds) {
  struct Unit {
    double scale;
    char const* name;
  };
  Unit const unit = seconds < 1e-3 ? Unit{1e6, "us"} : seconds < 1 ? Unit{1e3, "ms"} : Unit{1, "s"};
  double const value = seconds * unit.scale;
  return fmt::format("{} {}", format_fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0), unit.name);
}

std::string format_fixed(double value, int digits) {
  constexpr double longest = 1e6;
  double const size = std::abs(value);
  bool const vanishes = size > 0 && size < 0.5 * std::pow(10, -digits);
  return vanishes || size >= longest ? fmt::format("{:.1e}", value) : fmt::format("{:.{}f}", value, digits);
}

std::string format_bytes(double bytes) {
  static constexpr char const* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", format_fixed(bytes, unit == 0 ? 0 : 2), units[unit]);
}

std::string table(std::string const& title, std::vector<Row> const& rows) {
  return title + '\n' + aligned(columns(), rows) + notes(rows);
}

}  // namespace flashpad::report
