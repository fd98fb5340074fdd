// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::html_report {

/// A cell: what it says, and where it sorts if it is a number.
struct TableCell {
  std::string text;
  std::optional<double> value = std::nullopt;
};

struct TableColumn {
  std::string_view name;
  bool number = false;
  std::string_view classes = {};
};

/// Writes a table whose columns sort and whose rows have ids; assets/page.js gives both life.
class TableWriter {
 public:
  TableWriter(std::string_view id, std::string_view caption, std::vector<TableColumn> columns);
  void add(std::size_t row, std::string_view classes, std::vector<TableCell> const& cells);
  [[nodiscard]] std::string finish();

 private:
  std::vector<TableColumn> m_columns;
  std::string m_html;
};

}  // namespace flashpad::html_report
