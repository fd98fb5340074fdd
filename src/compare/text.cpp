// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/text.hpp"

#include "model/fusing.hpp"
#include "report/printable.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <system_error>

namespace flashpad::compare {

using report::printable;

namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t most_named = 8;
constexpr std::size_t widest_value = 60;

// "A" to "Z", then "C27".
std::string letter(std::size_t column) {
  return column < 26 ? std::string(1, static_cast<char>('A' + column)) : fmt::format("C{}", column + 1);
}

// First column to the left, the others to the right.
std::string aligned(std::vector<Cells> const& lines) {
  std::vector<std::size_t> widths;
  for (Cells const& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  std::string text;
  for (Cells const& line : lines) {
    std::string shown;
    for (std::size_t c = 0; c < line.size(); ++c) {
      shown +=
          c == 0 ? fmt::format("{:<{}}", line[c], widths[c]) : fmt::format("  {:>{}}", line[c], widths[c]);
    }
    shown.erase(shown.find_last_not_of(' ') + 1);
    text += shown + '\n';
  }
  return text;
}

std::string time_of(Cell const& cell) {
  if (!cell.row) return "-";
  return cell.row->seconds ? report::format_seconds(*cell.row->seconds) : printable(cell.row->status);
}

std::string probability_of(Cell const& cell) {
  if (!cell.probability) return "-";
  return *cell.probability < 0.001 ? "<0.001" : fmt::format("{:.3f}", *cell.probability);
}

bool any_tested(Comparison const& comparison, std::size_t column) {
  return std::any_of(comparison.lines.begin(), comparison.lines.end(),
                     [&](Line const& line) { return line.cells[column].probability.has_value(); });
}

std::string table(Comparison const& comparison) {
  std::vector<bool> tested;
  Cells header = {"case", letter(0)};
  for (std::size_t c = 0; c < comparison.columns.size(); ++c) {
    tested.push_back(any_tested(comparison, c));
    if (c == 0) continue;
    header.insert(header.end(), {letter(c), letter(c) + "/A"});
    if (tested[c]) header.insert(header.end(), {"p", "verdict"});
  }
  std::vector<Cells> lines = {header};
  for (Line const& line : comparison.lines) {
    bool const ratio =
        std::any_of(line.cells.begin(), line.cells.end(), [](Cell const& c) { return c.ratio; });
    bool const both =
        std::all_of(line.cells.begin(), line.cells.end(), [](Cell const& c) { return c.row.has_value(); });
    if (!ratio && !both) continue;  // named below
    Cells cells = {printable(line.name), time_of(line.cells.front())};
    for (std::size_t c = 1; c < line.cells.size(); ++c) {
      Cell const& cell = line.cells[c];
      cells.push_back(time_of(cell));
      cells.push_back(cell.ratio ? report::format_fixed(*cell.ratio, 3) + (cell.too_slow ? " !" : "") : "-");
      if (tested[c]) cells.insert(cells.end(), {probability_of(cell), std::string(name(cell.verdict))});
    }
    lines.push_back(std::move(cells));
  }
  return aligned(lines);
}

std::string named(std::vector<std::string> const& names) {
  std::size_t const shown = std::min(names.size(), most_named);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string only_in(Comparison const& comparison) {
  std::map<std::string, std::vector<std::string>> names;  // by the columns that have them
  for (Line const& line : comparison.lines) {
    std::string where;
    std::size_t count = 0;
    for (std::size_t c = 0; c < line.cells.size(); ++c) {
      if (!line.cells[c].row) continue;
      where += (where.empty() ? "" : ", ") + letter(c);
      ++count;
    }
    if (count < line.cells.size()) names[where].push_back(printable(line.name));
  }
  std::string text;
  for (auto const& [where, cases] : names) text += fmt::format("only in {}: {}\n", where, named(cases));
  return text;
}

std::string fact_of(Measurement const& row, char const* fact) {
  auto const found = row.facts.find(fact);
  return found == row.facts.end() ? "" : found->second;
}

// 0 where the text is no number of the kind that a report has.
int number_of(std::string const& text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

// What the tile's accumulator takes of the registers of a GPU's team, which is what most often decides its
// rows.
std::string on_chip(Measurement const& row) {
  std::string const tile = fact_of(row, "tile");
  int const rows = number_of(tile.substr(0, tile.find('x')));
  std::string const width = fact_of(row, "value_dim");
  int const dim = number_of(width.empty() ? fact_of(row, "head_dim") : width);
  if (fact_of(row, "kernel") == name(Kernel::stats)) return "none";
  if (rows <= 0 || dim <= 0) return "?";
  DType const dtype = fact_of(row, "dtype") == "fp64" ? DType::fp64 : DType::fp32;
  double const bytes = model::accumulator_bytes(rows, dim, dtype);
  std::string const backend = fact_of(row, "backend");
  int const lanes = backend == "hip" ? 64 : backend == "cuda" ? 32 : 0;
  int const team = number_of(fact_of(row, "team"));
  std::string text = report::format_bytes(bytes);
  if (lanes > 0 && team > 0) {
    text += fmt::format(" or {:.0f} registers of each of {} x {} lanes",
                        model::registers_per_lane(bytes, team, lanes), team, lanes);
  }
  return text;
}

std::string difference_of(Measurement const& a, Measurement const& b, std::string const& column,
                          std::string const& by) {
  std::string what;
  for (char const* fact :
       {"kernel", "backend", "engine", "tile", "team", "stages", "splits", "cache", "threads"}) {
    std::string const one = fact_of(a, fact);
    std::string const other = fact_of(b, fact);
    if (fact == by || one == other || one.empty() || other.empty()) continue;
    what += fmt::format("{}{} {} in A, {} in {}", what.empty() ? "" : "; ", fact, printable(one),
                        printable(other), column);
    if (std::string_view(fact) == "tile")
      what += fmt::format(" (accumulator {}, {})", on_chip(a), on_chip(b));
  }
  return what;
}

// Another tile, engine or backend behind the same name explains a time, or spoils a comparison.
std::string other_methods(Comparison const& comparison, Rules const& rules) {
  std::map<std::string, std::vector<std::string>> names;  // by what differs
  for (Line const& line : comparison.lines) {
    std::optional<Measurement> const& base = line.cells.front().row;
    for (std::size_t c = 1; c < line.cells.size(); ++c) {
      if (!line.cells[c].ratio) continue;
      std::string const what = difference_of(*base, *line.cells[c].row, letter(c), rules.by);
      if (!what.empty()) names[what].push_back(printable(line.name));
    }
  }
  std::string text;
  for (auto const& [what, cases] : names) text += fmt::format("{}: {}\n", what, named(cases));
  return text;
}

// "B takes 20.0 % more time than A"
std::string share(double mean, std::string const& column) {
  constexpr double many = 10;  // times, from which on a percentage says less
  if (mean > many)
    return fmt::format("{} takes {} times the time of A", column, report::format_fixed(mean, 1));
  if (mean < 1 / many)
    return fmt::format("A takes {} times the time of {}", report::format_fixed(1 / mean, 1), column);
  if (std::abs(mean - 1) < 0.0005) return fmt::format("{} takes the time of A", column);
  return fmt::format("{} takes {:.1f} % {} time than A", column, 100 * std::abs(mean - 1),
                     mean > 1 ? "more" : "less");
}

std::string means(Comparison const& comparison) {
  std::string text;
  for (std::size_t c = 1; c < comparison.columns.size(); ++c) {
    if (!comparison.geometric_means[c]) {
      text += fmt::format("no case has a time in A and in {}\n", letter(c));
      continue;
    }
    double const mean = *comparison.geometric_means[c];
    std::size_t const count = comparison.compared[c];
    text += fmt::format("geometric mean of {} case{}: {}/A {}, {}\n", count, count == 1 ? "" : "s", letter(c),
                        report::format_fixed(mean, 3), share(mean, letter(c)));
  }
  return text;
}

std::string test_note(Comparison const& comparison, Rules const& rules) {
  for (std::size_t c = 1; c < comparison.columns.size(); ++c) {
    if (!any_tested(comparison, c)) continue;
    return fmt::format(
        "p: how often chance alone makes medians so different; below {:g} a case is faster or slower. It "
        "knows "
        "the\nnoise inside a run, not what differs from run to run: repeat the runs before believing a few "
        "per "
        "cent.\n",
        rules.alpha);
  }
  return "no case has enough samples on both sides to tell a difference from noise\n";
}

std::string contexts(std::vector<Measurements> const& files, std::vector<Difference> const& found,
                     bool by_file) {
  if (files.size() < 2) return "";
  if (found.empty()) return "contexts: the same in all that is recorded\n";
  std::vector<Cells> lines;
  Cells header = {"contexts differ:"};
  for (std::size_t f = 0; f < files.size(); ++f)
    header.push_back(by_file ? letter(f) : printable(files[f].label));
  lines.push_back(header);
  for (Difference const& difference : found) {
    Cells cells = {"  " + printable(difference.name)};
    for (std::string const& value : difference.values) {
      std::string const shown = printable(value);
      cells.push_back(shown.size() <= widest_value ? shown : shown.substr(0, widest_value - 2) + "..");
    }
    lines.push_back(std::move(cells));
  }
  return aligned(lines);
}

}  // namespace

std::string text(std::vector<Measurements> const& files, std::vector<Difference> const& found,
                 Comparison const& comparison, Rules const& rules) {
  std::string text;
  for (std::size_t c = 0; c < comparison.columns.size(); ++c) {
    text += fmt::format("{}: {}{}", letter(c), rules.by.empty() ? "" : rules.by + " ",
                        printable(comparison.columns[c]));
    text += rules.by.empty() ? fmt::format(" ({})\n", files[c].writer) : "\n";
  }
  text += contexts(files, found, rules.by.empty()) + '\n';
  text += table(comparison) + '\n';
  text += only_in(comparison) + other_methods(comparison, rules) + means(comparison);
  text += test_note(comparison, rules);
  return text;
}

nlohmann::ordered_json document(std::vector<Measurements> const& files, std::vector<Difference> const& found,
                                Comparison const& comparison) {
  using Json = nlohmann::ordered_json;
  auto const or_null = [](std::optional<double> const& value) { return value ? Json(*value) : Json(); };
  Json json;
  json["files"] = Json::array();
  for (Measurements const& file : files)
    json["files"].push_back({{"name", file.label}, {"writer", file.writer}});
  json["columns"] = comparison.columns;
  json["differences"] = Json::array();
  for (Difference const& difference : found) {
    json["differences"].push_back({{"name", difference.name}, {"values", difference.values}});
  }
  json["cases"] = Json::array();
  for (Line const& line : comparison.lines) {
    Json cells = Json::array();
    for (Cell const& cell : line.cells) {
      Json entry;
      entry["case"] = !cell.row ? Json() : Json(cell.row->name);
      entry["median_s"] = !cell.row ? Json() : or_null(cell.row->seconds);
      entry["ratio"] = or_null(cell.ratio);
      entry["probability"] = or_null(cell.probability);
      entry["verdict"] = name(cell.verdict);
      cells.push_back(std::move(entry));
    }
    json["cases"].push_back({{"name", line.name}, {"columns", std::move(cells)}});
  }
  json["geometric_means"] = Json::array();
  for (std::size_t c = 0; c < comparison.columns.size(); ++c) {
    json["geometric_means"].push_back(c == 0 ? Json() : or_null(comparison.geometric_means[c]));
  }
  return json;
}

}  // namespace flashpad::compare
