// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::profile {

/// Fields of comma-separated values by line, quoted ones as RFC 4180 has them. Lines without a field are left
/// out.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

/// A table of which the first line names the columns.
class CsvTable {
 public:
  explicit CsvTable(std::string_view text);

  [[nodiscard]] bool has(std::string const& column) const { return m_columns.contains(column); }
  [[nodiscard]] std::size_t lines() const { return m_lines.size(); }
  /// Empty where the line is too short or there is no such column.
  [[nodiscard]] std::string at(std::size_t line, std::string const& column) const;

 private:
  std::map<std::string, std::size_t> m_columns;
  std::vector<std::vector<std::string>> m_lines;
};

/// What a profiler counted: a decimal number of 0 or more, with or without commas between groups of three
/// digits (`1,234,567.5`). Throws Error, naming `what`, for anything else: a sign, hexadecimal digits, or the
/// comma of a locale that writes `1,5`.
double csv_number(std::string const& text, std::string const& what);

}  // namespace flashpad::profile
