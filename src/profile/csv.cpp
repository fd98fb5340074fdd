// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/csv.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace flashpad::profile {

std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false;
  auto const end_line = [&] {
    if (!field.empty() || !fields.empty()) {
      fields.push_back(field);
      lines.push_back(fields);
    }
    fields.clear();
    field.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else if (c == '"') {
        quoted = false;
      } else {
        field += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.push_back(field);
      field.clear();
    } else if (c == '\n') {
      end_line();
    } else if (c != '\r') {
      field += c;
    }
  }
  end_line();
  return lines;
}

CsvTable::CsvTable(std::string_view text) : m_lines(parse_csv(text)) {
  if (m_lines.empty()) return;
  for (std::size_t i = 0; i < m_lines.front().size(); ++i) m_columns.emplace(m_lines.front()[i], i);
  m_lines.erase(m_lines.begin());
}

std::string CsvTable::at(std::size_t line, std::string const& column) const {
  auto const found = m_columns.find(column);
  if (found == m_columns.end() || found->second >= m_lines[line].size()) return {};
  return m_lines[line][found->second];
}

double csv_number(std::string const& text, std::string const& what) {
  std::string digits = text;
  std::erase(digits, ',');
  char* end = nullptr;
  double const number = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0' || !std::isfinite(number)) {
    throw Error(fmt::format("{} is `{}`; a number was expected", what, text));
  }
  return number;
}

}  // namespace flashpad::profile
