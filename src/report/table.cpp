// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace flashpad::report {

namespace {

constexpr std::size_t max_width = 120;
constexpr std::size_t min_case_width = 12;
constexpr char const* gap = "  ";

struct Column {
  std::string header;
  bool left;
  std::function<std::string(Row const&)> cell;
};

std::string number_or_dash(std::optional<double> const& value, char const* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

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

// Keeps both ends: names of one sweep differ in the middle or at the end, rarely at one place only.
std::string shortened(std::string const& text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t const tail = (width - 2) * 2 / 3;
  return text.substr(0, width - 2 - tail) + ".." + text.substr(text.size() - tail);
}

// The words that begin every case name are said once, above the table.
std::size_t common_prefix(std::vector<Row> const& rows) {
  if (rows.size() < 2) return 0;
  std::string const& first = rows.front().case_name;
  std::size_t length = first.size();
  for (Row const& row : rows) {
    auto const [end, other] =
        std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(length),
                      row.case_name.begin(), row.case_name.end());
    length = static_cast<std::size_t>(end - first.begin());
  }
  std::size_t const word = first.find_last_of("-_/. ", length == 0 ? 0 : length - 1);
  return word == std::string::npos ? 0 : word + 1;
}

std::string line_of(std::vector<std::string> const& cells, std::vector<std::size_t> const& widths,
                    std::vector<Column> const& layout) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += gap;
    line += layout[c].left ? fmt::format("{:<{}}", cells[c], widths[c])
                           : fmt::format("{:>{}}", cells[c], widths[c]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string notes(std::vector<Row> const& rows) {
  std::string text;
  for (Row const& row : rows) {
    if (row.status == Status::ok && row.reason.empty()) continue;
    std::string const label = row.status == Status::ok ? "note" : std::string(name(row.status));
    text += fmt::format("  {} [{}]: {}\n", label, row.case_name, row.reason);
  }
  return text;
}

}  // namespace

std::string format_seconds(double seconds) {
  struct Unit {
    double scale;
    char const* name;
  };
  Unit const unit = seconds < 1e-3 ? Unit{1e6, "us"} : seconds < 1 ? Unit{1e3, "ms"} : Unit{1, "s"};
  double const value = seconds * unit.scale;
  int const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, unit.name);
}

std::string format_bytes(double bytes) {
  static constexpr char const* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 2, units[unit]);
}

std::string table(std::string const& title, std::vector<Row> const& rows) {
  std::vector<Column> const layout = columns();
  std::size_t const prefix = common_prefix(rows);

  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> cells(rows.size());
  std::size_t others = 0;
  for (std::size_t c = 0; c < layout.size(); ++c) {
    std::size_t width = layout[c].header.size();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      cells[r].push_back(c == 0 ? rows[r].case_name.substr(prefix) : layout[c].cell(rows[r]));
      width = std::max(width, cells[r].back().size());
    }
    widths.push_back(width);
    if (c > 0) others += 2 + width;
  }
  std::size_t const room = others + min_case_width < max_width ? max_width - others : min_case_width;
  widths[0] = std::min(widths[0], room);

  std::vector<std::string> headers;
  for (Column const& column : layout) headers.push_back(column.header);
  std::string text = title + '\n';
  if (prefix > 0) text += fmt::format("cases: {}...\n", rows.front().case_name.substr(0, prefix));
  text += line_of(headers, widths, layout);
  for (auto& row : cells) {
    row[0] = shortened(row[0], widths[0]);
    text += line_of(row, widths, layout);
  }
  return text + notes(rows);
}

}  // namespace flashpad::report
