// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/compare.hpp"

#include <flashpad/error.hpp>

#include "compare/significance.hpp"
#include "measure/statistics.hpp"
#include "report/printable.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace flashpad::compare {

using report::printable;

namespace {

constexpr char const* problem_facts[] = {"batch", "heads",    "kv_heads",  "seq_q", "seq_k",
                                         "dtype", "head_dim", "value_dim", "mask",  "layout"};
// What may be the library's own choice: rows are the same without it, unless it is what they are compared by.
constexpr char const* chosen_facts[] = {"engine", "tile", "splits"};

struct Column {
  std::string label;
  std::vector<std::string> lines;  // in the order of the files
  std::map<std::string, Measurement const*> rows;

  [[nodiscard]] Measurement const* find(std::string const& line) const {
    auto const found = rows.find(line);
    return found == rows.end() ? nullptr : found->second;
  }
  void add(std::string const& line, Measurement const& row) {
    lines.push_back(line);
    rows.emplace(line, &row);
  }
};

bool passes(Measurement const& row, Rules const& rules) {
  return row.name.find(rules.filter) != std::string::npos;
}

void require_same_problem(Measurements const& a, Measurement const& in_a, Measurements const& b,
                          Measurement const& in_b) {
  for (char const* fact : problem_facts) {
    auto const one = in_a.facts.find(fact);
    auto const other = in_b.facts.find(fact);
    if (one == in_a.facts.end() || other == in_b.facts.end() || one->second == other->second) continue;
    throw Error(fmt::format("{}: {}: {} is {}, and {} in {}; allowed: the same problem under one name",
                            b.label, printable(in_b.name), fact, printable(other->second),
                            printable(one->second), a.label));
  }
}

std::vector<Column> columns_by_file(std::vector<Measurements> const& files, Rules const& rules) {
  std::vector<Column> columns;
  std::map<std::string, std::pair<Measurements const*, Measurement const*>> first;
  for (Measurements const& file : files) {
    Column column{file.label, {}, {}};
    for (Measurement const& row : file.rows) {
      if (!passes(row, rules)) continue;
      auto const [found, added] = first.emplace(row.name, std::pair(&file, &row));
      if (!added) require_same_problem(*found->second.first, *found->second.second, file, row);
      column.add(row.name, row);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string line_name(Measurement const& row, std::string const& by) {
  std::string text = results::short_name(row.facts, by);
  if (std::find(std::begin(chosen_facts), std::end(chosen_facts), by) == std::end(chosen_facts)) return text;
  for (char const* fact : chosen_facts) {
    auto const found = row.facts.find(fact);
    if (fact != by && found != row.facts.end()) text += fmt::format("_{}-{}", fact, found->second);
  }
  return text;
}

std::vector<Column> columns_by_fact(std::vector<Measurements> const& files, Rules const& rules) {
  std::vector<Column> columns;
  std::set<std::string> known;
  for (Measurements const& file : files) {
    for (Measurement const& row : file.rows) {
      for (auto const& [fact, value] : row.facts) known.insert(fact);
      auto const found = row.facts.find(rules.by);
      if (found == row.facts.end() || !passes(row, rules)) continue;
      auto column = std::find_if(columns.begin(), columns.end(),
                                 [&](Column const& c) { return c.label == found->second; });
      if (column == columns.end()) column = columns.insert(columns.end(), {found->second, {}, {}});
      std::string const line = line_name(row, rules.by);
      if (column->find(line) != nullptr) {
        throw Error(fmt::format("{}: {}: there is another row of {} with {}; allowed: one (see --filter)",
                                file.label, printable(row.name), printable(found->second), printable(line)));
      }
      column->add(line, row);
    }
  }
  if (!known.contains(rules.by)) {
    throw Error(
        fmt::format("--by: no row has `{}`; allowed: {}", printable(rules.by), fmt::join(known, ", ")));
  }
  return columns;
}

std::optional<Quartiles> quartiles(Measurement const& row) {
  constexpr int fewest = 4;
  if (row.repetitions < fewest) return std::nullopt;
  if (!row.samples.empty()) {
    measure::Summary const of_samples = measure::summarise(row.samples);
    return Quartiles{of_samples.median, of_samples.spread, row.repetitions};
  }
  if (!row.spread) return std::nullopt;
  return Quartiles{*row.seconds, *row.spread, row.repetitions};
}

// Empty where there is too little to test.
std::optional<double> probability(Measurement const& a, Measurement const& b, double alpha) {
  if (!a.samples.empty() && !b.samples.empty()) {
    if (least_probability(a.samples.size(), b.samples.size()) > alpha) return std::nullopt;
    return mann_whitney(a.samples, b.samples);
  }
  auto const of_a = quartiles(a);
  auto const of_b = quartiles(b);
  if (!of_a || !of_b) return std::nullopt;
  return median_test(*of_a, *of_b);
}

Cell compared(Measurement const* base, Measurement const* row, Rules const& rules) {
  Cell cell;
  if (row != nullptr) cell.row = *row;
  if (base == nullptr || row == nullptr) return cell;
  cell.verdict = Verdict::failed;
  if (!base->seconds || !row->seconds) return cell;
  cell.ratio = *row->seconds / *base->seconds;
  cell.probability = probability(*base, *row, rules.alpha);
  if (!cell.probability) {
    cell.verdict = Verdict::untested;
  } else if (*cell.probability >= rules.alpha || *cell.ratio == 1) {
    cell.verdict = Verdict::same;
  } else {
    cell.verdict = *cell.ratio > 1 ? Verdict::slower : Verdict::faster;
  }
  bool const counts = cell.verdict == Verdict::slower || cell.verdict == Verdict::untested;
  cell.too_slow = rules.fail_if_slower && counts && *cell.ratio > 1 + *rules.fail_if_slower;
  return cell;
}

void add_means(Comparison& comparison) {
  for (std::size_t c = 0; c < comparison.columns.size(); ++c) {
    double logs = 0;
    std::size_t count = 0;
    for (Line const& line : comparison.lines) {
      if (!line.cells[c].ratio) continue;
      logs += std::log(*line.cells[c].ratio);
      ++count;
    }
    comparison.compared.push_back(count);
    comparison.geometric_means.push_back(
        count == 0 ? std::nullopt : std::optional(std::exp(logs / static_cast<double>(count))));
  }
}

// "x, y and 3 more": of a column's cases, which may be many.
std::string some_of(Comparison const& comparison, std::size_t column) {
  constexpr std::size_t most = 2;
  std::vector<std::string> names;
  std::size_t count = 0;
  for (Line const& line : comparison.lines) {
    if (!line.cells[column].row || ++count > most) continue;
    names.push_back(printable(line.name));
  }
  if (names.empty()) return "no case";
  std::string const more = count > most ? fmt::format(" and {} more", count - most) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

void require_something_to_compare(Comparison const& comparison) {
  bool both = false;
  for (Line const& line : comparison.lines) {
    for (std::size_t c = 1; c < line.cells.size(); ++c) {
      if (line.cells[c].ratio) return;
      both = both || (line.cells.front().row && line.cells[c].row);
    }
  }
  std::string const first = printable(comparison.columns.front());
  std::string const second = printable(comparison.columns[1]);
  if (both) {
    throw Error(fmt::format(
        "{}: none of its cases has a time here and in another column; allowed: one at least", first));
  }
  throw Error(fmt::format(
      "{}: has {}, and {} has {}: no case is in both; allowed: results of the same cases, or --by "
      "with what sets them apart, as in --by kernel",
      first, some_of(comparison, 0), second, some_of(comparison, 1)));
}

}  // namespace

std::string_view name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::base: return "base";
    case Verdict::faster: return "faster";
    case Verdict::slower: return "slower";
    case Verdict::same: return "same";
    case Verdict::untested: return "untested";
    case Verdict::missing: return "missing";
    case Verdict::failed: return "failed";
  }
  return "?";
}

Comparison compare(std::vector<Measurements> const& files, Rules const& rules) {
  std::vector<Column> const columns =
      rules.by.empty() ? columns_by_file(files, rules) : columns_by_fact(files, rules);
  Comparison result;
  for (Column const& column : columns) result.columns.push_back(column.label);
  if (columns.size() < 2) {
    throw Error(fmt::format("--by: all rows have {} {}; allowed: two values or more", printable(rules.by),
                            columns.empty() ? "no" : printable(columns.front().label)));
  }
  std::set<std::string> done;
  for (Column const& column : columns) {
    for (std::string const& line : column.lines) {
      if (!done.insert(line).second) continue;
      Line entry{line, {}};
      Measurement const* const base = columns.front().find(line);
      Cell& own = entry.cells.emplace_back();
      if (base != nullptr) own.row = *base;
      own.verdict = Verdict::base;
      for (std::size_t c = 1; c < columns.size(); ++c) {
        entry.cells.push_back(compared(base, columns[c].find(line), rules));
      }
      result.lines.push_back(std::move(entry));
    }
  }
  if (result.lines.empty()) {
    throw Error(fmt::format("--filter: `{}` matches no row; allowed: part of a case's name",
                            printable(rules.filter)));
  }
  require_something_to_compare(result);
  add_means(result);
  return result;
}

std::vector<std::string> broken(Comparison const& comparison, Rules const& rules) {
  std::vector<std::string> lines;
  if (!rules.fail_if_slower) return lines;
  for (Line const& line : comparison.lines) {
    std::optional<Measurement> const& base = line.cells.front().row;
    if (!base || !base->seconds) continue;
    for (std::size_t c = 1; c < line.cells.size(); ++c) {
      Cell const& cell = line.cells[c];
      std::string const column = printable(comparison.columns[c]);
      if (!cell.row) {
        lines.push_back(fmt::format("{} is not in {}", printable(line.name), column));
      } else if (!cell.row->seconds) {
        lines.push_back(
            fmt::format("{} is {} in {}", printable(line.name), printable(cell.row->status), column));
      } else if (cell.too_slow) {
        lines.push_back(fmt::format(
            "{} is {} of its time in {}{}", printable(line.name), report::format_fixed(*cell.ratio, 3),
            column, cell.verdict == Verdict::untested ? ", with too few samples to test" : ""));
      }
    }
  }
  return lines;
}

}  // namespace flashpad::compare
