// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace flashpad::report {

namespace {

constexpr std::size_t max_width = 120;
constexpr std::size_t min_case_width = 12;
constexpr char const* gap = "  ";

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

}  // namespace

std::string notes(std::vector<Row> const& rows) {
  std::string text;
  for (Row const& row : rows) {
    if (row.status == Status::ok && row.reason.empty()) continue;
    std::string const label = row.status == Status::ok ? "note" : std::string(name(row.status));
    text += fmt::format("  {} [{}]: {}\n", label, row.case_name, row.reason);
  }
  return text;
}

std::string number_or_dash(std::optional<double> const& value, char const* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string aligned(std::vector<Column> const& columns, std::vector<Row> const& rows) {
  if (columns.empty()) return {};  // of no rows, all columns are empty
  std::size_t const prefix = common_prefix(rows);

  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> cells(rows.size());
  std::size_t others = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t width = columns[c].header.size();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      cells[r].push_back(c == 0 ? rows[r].case_name.substr(prefix) : columns[c].cell(rows[r]));
      width = std::max(width, cells[r].back().size());
    }
    widths.push_back(width);
    if (c > 0) others += 2 + width;
  }
  std::size_t const room = others + min_case_width < max_width ? max_width - others : min_case_width;
  widths[0] = std::min(widths[0], room);

  std::vector<std::string> headers;
  for (Column const& column : columns) headers.push_back(column.header);
  std::string text;
  if (prefix > 0) text += fmt::format("cases: {}...\n", rows.front().case_name.substr(0, prefix));
  text += line_of(headers, widths, columns);
  for (auto& row : cells) {
    row[0] = shortened(row[0], widths[0]);
    text += line_of(row, widths, columns);
  }
  return text;
}

}  // namespace flashpad::report
