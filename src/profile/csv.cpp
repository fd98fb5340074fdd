// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/csv.hpp"

#include <flashpad/error.hpp>

#include "profile/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>

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
  static std::regex const form(R"(([0-9]+|[0-9]{1,3}(,[0-9]{3})+)(\.[0-9]*)?([eE][-+]?[0-9]+)?)");
  std::string digits = text;
  std::erase(digits, ',');
  double const number = std::strtod(digits.c_str(), nullptr);
  // std::regex takes stack by the character, and the text may be of any length.
  if (text.size() > 64 || !std::regex_match(text, form) || !std::isfinite(number)) {
    throw Error(fmt::format("{} is `{}`; a number of 0 or more was expected", what, brief(text)));
  }
  return number;
}

}  // namespace flashpad::profile
