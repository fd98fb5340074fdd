// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/tables.hpp"

#include "html_report/scale.hpp"
#include "html_report/table_writer.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace flashpad::html_report {

namespace {

constexpr char const* nothing = "\xE2\x80\x93";  // an en dash: there is nothing to say

/// A column of the table of rows, and how an item fills it.
struct RowColumn {
  TableColumn column;
  TableCell (*cell)(Item const&);
  bool menu = false;  ///< its values make a menu
};

TableCell text(std::string value) { return {value.empty() ? nothing : std::move(value)}; }

template <class Write>
TableCell number(std::optional<double> const& value, Write const& write) {
  return value ? TableCell{write(*value), *value} : TableCell{nothing};
}

std::string percent(double fraction) { return report::format_fixed(100 * fraction, 0) + " %"; }
std::string times(double ratio) { return report::format_fixed(ratio, 2) + "x"; }
std::string small_times(double ratio) { return report::format_fixed(ratio, 1) + "x"; }
std::string exponent(double value) { return fmt::format("{:.1e}", value); }
std::string thousandth(double value) { return short_number(value); }

std::string shape_of(Item const& item) {
  Shape const& s = item.data().shape;
  if (s.head_dim == 0) return "";
  std::string text = fmt::format("b{} h{}", s.batch, s.heads);
  if (s.kv_heads != s.heads) text += fmt::format("/{}", s.kv_heads);
  if (s.seq_q != s.seq_k) text += fmt::format(" q{}", s.seq_q);
  return text;
}

std::string standing(Row const& row) {
  std::string text(name(row.status));
  if (row.status == Status::ok && !row.verified) text += ", unverified";
  if (!row.flag.empty()) text += ", " + row.flag;
  return text;
}

std::string note(Row const& row) {
  std::string text = row.reason;
  if (row.bytes_needed)
    text += fmt::format("{}needs {}", text.empty() ? "" : "; ", report::format_bytes(*row.bytes_needed));
  return text;
}

constexpr RowColumn columns[] = {
    {{"contender", false, "who"}, [](Item const& i) { return text(i.label); }, true},
    {{"machine"}, [](Item const& i) { return text(i.entry->machine); }, true},
    {{"backend"}, [](Item const& i) { return text(i.data().backend); }, true},
    {{"threads", true},
     [](Item const& i) {
       return i.entry->threads > 0 ? TableCell{fmt::format("{}", i.entry->threads), i.entry->threads}
                                   : TableCell{nothing};
     },
     true},
    {{"type"}, [](Item const& i) { return text(i.data().dtype); }, true},
    {{"mask"}, [](Item const& i) { return text(i.data().mask); }, true},
    {{"d", true},
     [](Item const& i) {
       std::int64_t const d = i.data().shape.head_dim;
       return d > 0 ? TableCell{fmt::format("{}", d), static_cast<double>(d)} : TableCell{nothing};
     },
     true},
    {{"N", true},
     [](Item const& i) {
       return TableCell{fmt::format("{}", i.data().shape.seq_k), i.length()};
     }},
    {{"shape"}, [](Item const& i) { return text(shape_of(i)); }},
    {{"engine"}, [](Item const& i) { return text(i.data().engine.value_or("")); }, true},
    {{"tile"}, [](Item const& i) { return text(i.data().tile.value_or("")); }},
    {{"time", true}, [](Item const& i) { return number(i.data().median_s, report::format_seconds); }},
    {{"spread", true}, [](Item const& i) { return number(i.data().spread, percent); }},
    {{"TFLOP/s", true}, [](Item const& i) { return number(i.data().tflops, thousandth); }},
    {{"of roof", true}, [](Item const& i) { return number(i.data().roof_fraction, percent); }},
    {{"FLOP/byte", true}, [](Item const& i) { return number(i.data().intensity, short_number); }},
    {{"model bytes", true}, [](Item const& i) { return number(i.data().bytes_model, report::format_bytes); }},
    {{"counted bytes", true},
     [](Item const& i) { return number(i.data().bytes_measured, report::format_bytes); }},
    {{"simulated bytes", true},
     [](Item const& i) {
       return number(i.data().counters ? i.data().counters->simulated_bytes : std::nullopt,
                     report::format_bytes);
     }},
    {{"fewer bytes", true}, [](Item const& i) { return number(i.data().byte_ratio, small_times); }},
    {{"speedup", true}, [](Item const& i) { return number(i.data().speedup_vs_naive, times); }},
    {{"error", true}, [](Item const& i) { return number(i.data().max_abs_err, exponent); }},
    {{"tolerance", true}, [](Item const& i) { return number(i.data().tolerance, exponent); }},
    {{"status", false, "status"}, [](Item const& i) { return text(standing(i.data())); }, true},
    {{"note", false, "note"}, [](Item const& i) { return text(note(i.data())); }},
    {{"case", false, "case"}, [](Item const& i) { return text(i.data().case_name); }}};

// A column of which no row says anything is left out.
std::vector<RowColumn> columns_of(std::vector<Item> const& items) {
  std::vector<RowColumn> used;
  for (RowColumn const& column : columns) {
    bool const said = std::any_of(items.begin(), items.end(),
                                  [&](Item const& item) { return column.cell(item).text != nothing; });
    if (said) used.push_back(column);
  }
  return used;
}

std::string_view class_of(Item const& item) {
  if (item.data().verified == false) return "failed";
  return item.data().status == Status::ok ? "" : name(item.data().status);
}

std::string value_of(nlohmann::ordered_json const& value) {
  if (value.is_null()) return nothing;
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string rows_table(std::vector<Item> const& items) {
  std::vector<RowColumn> const used = columns_of(items);
  std::vector<TableColumn> heads;
  for (RowColumn const& column : used) heads.push_back(column.column);
  TableWriter table("rows", "Every row of the files", heads);
  for (Item const& item : items) {
    std::vector<TableCell> cells;
    for (RowColumn const& column : used) cells.push_back(column.cell(item));
    table.add(item.row, class_of(item), cells);
  }
  return table.finish();
}

std::string trials_table(std::vector<results::ResultFile> const& files, std::size_t first_row) {
  TableWriter table("trials", "Every configuration of the searches",
                    {{"kernel"},
                     {"search"},
                     {"tile"},
                     {"team", true},
                     {"stages", true},
                     {"time", true},
                     {"final", true},
                     {"TFLOP/s", true},
                     {"status"},
                     {"note", false, "note"}});
  std::size_t row = first_row;
  auto const count = [](std::int64_t value) {
    return value > 0 ? TableCell{fmt::format("{}", value), static_cast<double>(value)} : TableCell{nothing};
  };
  for (results::ResultFile const& file : files) {
    for (results::Search const& search : file.searches) {
      for (results::Trial const& trial : search.trials) {
        std::string const standing = trial.winner ? trial.status + ", winner" : trial.status;
        table.add(row++,
                  trial.status == "ok"       ? ""
                  : trial.status == "pruned" ? "skipped"
                                             : "failed",
                  {text(search.kernel), text(search.case_name), text(trial.tile), count(trial.team),
                   count(trial.stages), number(trial.median_s, report::format_seconds),
                   number(trial.final_median_s, report::format_seconds), number(trial.tflops, thousandth),
                   text(standing), text(trial.reason)});
      }
    }
  }
  return row == first_row ? "" : table.finish();
}

std::string menus(std::vector<Item> const& items) {
  std::string html;
  for (RowColumn const& column : columns_of(items)) {
    if (!column.menu) continue;
    std::vector<std::string> values;
    for (Item const& item : items) {
      std::string value = column.cell(item).text;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
    }
    constexpr std::size_t most = 60;
    if (values.size() < 2 || values.size() > most) continue;
    html += fmt::format(R"(<label>{0}<select data-column="{0}"><option value="">all</option>)",
                        escape(column.column.name));
    for (std::string const& value : values)
      html += fmt::format(R"(<option value="{}">{}</option>)", escape(value), escape(shorten(value, 40)));
    html += "</select></label>\n";
  }
  return html;
}

std::string contexts_table(std::vector<results::ResultFile> const& files) {
  std::vector<std::string> names;
  for (results::ResultFile const& file : files) {
    for (auto it = file.context.begin(); it != file.context.end(); ++it) {
      if (std::find(names.begin(), names.end(), it.key()) == names.end()) names.push_back(it.key());
    }
  }
  std::string html =
      R"(<div class="scroll" tabindex="0" role="region" aria-label="Where the files come from"><table id="contexts">)"
      "<caption>Where the files come from</caption><thead><tr><th scope=\"col\">file</th>";
  for (results::ResultFile const& file : files)
    html += fmt::format("<th scope=\"col\">{}</th>", escape(file.path.filename().string()));
  html += "</tr></thead>\n<tbody>\n<tr><th scope=\"row\">written by</th>";
  for (results::ResultFile const& file : files) html += fmt::format("<td>{}</td>", escape(file.format));
  html += "</tr>\n";
  for (std::string const& name : names) {
    std::set<std::string> distinct;
    std::string cells;
    for (results::ResultFile const& file : files) {
      auto const found = file.context.find(name);
      std::string const value = found == file.context.end() ? nothing : value_of(*found);
      distinct.insert(value);
      cells += fmt::format("<td>{}</td>", escape(value));
    }
    html += fmt::format("<tr{}><th scope=\"row\">{}</th>{}</tr>\n",
                        distinct.size() > 1 ? " class=\"differs\"" : "", escape(name), cells);
  }
  return html + "</tbody></table></div>";
}

}  // namespace flashpad::html_report
