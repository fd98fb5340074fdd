// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/table_writer.hpp"

#include "html_report/svg.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace flashpad::html_report {

TableWriter::TableWriter(std::string_view id, std::string_view caption, std::vector<TableColumn> columns)
    : m_columns(std::move(columns)) {
  m_html = fmt::format(
      R"(<div class="scroll" tabindex="0" role="region" aria-label="{}"><table id="{}" class="sortable">)",
      escape(caption), id);
  m_html += fmt::format("<caption>{}</caption><thead><tr>", escape(caption));
  for (TableColumn const& column : m_columns) {
    m_html +=
        fmt::format(R"(<th scope="col" aria-sort="none" class="{}{}"><button type="button">{}</button></th>)",
                    column.number ? "number " : "", column.classes, escape(column.name));
  }
  m_html += "</tr></thead>\n<tbody>\n";
}

void TableWriter::add(std::size_t row, std::string_view classes, std::vector<TableCell> const& cells) {
  m_html +=
      fmt::format(R"(<tr id="row{}"{}>)", row, classes.empty() ? "" : fmt::format(" class=\"{}\"", classes));
  for (std::size_t c = 0; c < cells.size(); ++c) {
    TableColumn const& column = m_columns[c];
    std::string kind(column.classes);
    if (column.number) kind.insert(0, kind.empty() ? "number" : "number ");
    m_html += "<td";
    if (!kind.empty()) m_html += fmt::format(" class=\"{}\"", kind);
    if (cells[c].value && std::isfinite(*cells[c].value))
      m_html += fmt::format(" data-value=\"{:.6g}\"", *cells[c].value);
    m_html += fmt::format(">{}</td>", escape(cells[c].text));
  }
  m_html += "</tr>\n";
}

std::string TableWriter::finish() { return std::move(m_html) + "</tbody></table></div>"; }

}  // namespace flashpad::html_report
