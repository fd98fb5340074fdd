// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/figure.hpp"
#include "html_report/scale.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace flashpad::html_report {

namespace {

using results::Search;
using results::Trial;

constexpr double cell_width = 66;
constexpr double cell_height = 40;
constexpr double left = 62;
constexpr double bottom = 40;

// Classes of figure.css, darkest for the best: up to so many times the least time.
constexpr std::array steps = {1.02, 1.1, 1.25, 1.6, 2.5};

std::size_t step_of(double ratio) {
  return static_cast<std::size_t>(std::lower_bound(steps.begin(), steps.end(), ratio) - steps.begin());
}

struct Cell {
  Trial const* best = nullptr;
  std::size_t row = no_row;
  int trials = 0;
  bool from_table = false;
};

// The time that decided: a finalist's is that of the final.
std::optional<double> time_of(Trial const& trial) {
  std::optional<double> const& time = trial.final_median_s ? trial.final_median_s : trial.median_s;
  return trial.status == "ok" && time && *time > 0 ? time : std::nullopt;
}

bool better(Trial const& a, Trial const& b) {
  if (a.winner != b.winner) return a.winner;
  constexpr double never = std::numeric_limits<double>::infinity();
  double const first = time_of(a).value_or(never);
  double const second = time_of(b).value_or(never);
  if (first != second) return first < second;
  return a.status != "pruned" && b.status == "pruned";
}

std::string hint_of(Cell const& cell) {
  Trial const& trial = *cell.best;
  std::string text = fmt::format("{}: {}", trial.tile, trial.status);
  if (auto const time = time_of(trial)) text += ", " + report::format_seconds(*time);
  if (trial.team > 0) text += fmt::format(", team {}", trial.team);
  if (trial.stages > 0) text += fmt::format(", {} stages", trial.stages);
  if (cell.trials > 1) text += fmt::format("; the best of {} configurations", cell.trials);
  if (!trial.reason.empty()) text += ": " + trial.reason;
  return text;
}

void draw(Svg& svg, double x, double y, Cell const& cell, double least) {
  constexpr double width = cell_width - 3;
  constexpr double height = cell_height - 3;
  Trial const& trial = *cell.best;
  if (auto const time = time_of(trial)) {
    std::size_t const step = step_of(*time / least);
    svg.rectangle(x, y, width, height, fmt::format("cell heat{}", step), cell.row, hint_of(cell));
    svg.text(x + width / 2, y + 22, report::format_seconds(*time), fmt::format("on{}", step), Anchor::middle);
  } else {
    bool const pruned = trial.status == "pruned";
    svg.rectangle(x, y, width, height, pruned ? "cell pruned" : "cell bad", cell.row, hint_of(cell));
    if (pruned) svg.line(x + 6, y + height - 6, x + width - 6, y + 6, "strike");
    svg.text(x + width / 2, y + 22, trial.status, "small", Anchor::middle);
  }
  if (cell.from_table) svg.rectangle(x - 1, y - 1, width + 2, height + 2, "from-table");
  if (trial.winner) svg.rectangle(x - 1, y - 1, width + 2, height + 2, "winner");
}

Panel panel(Search const& search, std::size_t first_row) {
  std::set<std::int64_t> keys;
  std::set<std::int64_t> queries;
  std::map<std::pair<std::int64_t, std::int64_t>, Cell> cells;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < search.trials.size(); ++t) {
    Trial const& trial = search.trials[t];
    keys.insert(trial.k);
    queries.insert(trial.q);
    Cell& cell = cells[{trial.q, trial.k}];
    ++cell.trials;
    cell.from_table = cell.from_table || trial.from_table;
    if (cell.best == nullptr || better(trial, *cell.best)) {
      cell.best = &trial;
      cell.row = first_row + t;
    }
    least = std::min(least, time_of(trial).value_or(least));
  }
  Svg svg;
  double const height = 8 + cell_height * static_cast<double>(queries.size());
  double y = 8;
  for (auto q = queries.rbegin(); q != queries.rend(); ++q, y += cell_height) {
    svg.text(left - 8, y + 22, fmt::format("{}", *q), "tick", Anchor::end);
    double x = left;
    for (std::int64_t const k : keys) {
      auto const cell = cells.find({*q, k});
      if (cell != cells.end()) draw(svg, x, y, cell->second, least);
      x += cell_width;
    }
  }
  double x = left;
  for (std::int64_t const k : keys) {
    svg.text(x + (cell_width - 3) / 2, height + 14, fmt::format("{}", k), "tick", Anchor::middle);
    x += cell_width;
  }
  svg.text((left + x) / 2, height + 32, "keys of a tile", "label", Anchor::middle);
  svg.upright_text(12, height / 2, "query rows of a tile", "label");
  std::string title = search.kernel + " · " + search.case_name;
  if (search.speedup_vs_table)
    title += fmt::format(": {}x the table's tile", short_number(*search.speedup_vs_table));
  if (search.status != "tuned" && !search.status.empty()) title += fmt::format(" ({})", search.status);
  return {title, std::max(x + 8, 320.0), height + bottom, svg.body()};
}

}  // namespace

Figure tiles(std::vector<results::ResultFile> const& files, std::size_t first_row) {
  Figure figure{
      .id = "tiles",
      .title = "Tiles that were tried",
      .caption =
          "Median time of a call for each tile, a finalist's in the final; the darker, the closer to the "
          "best. "
          "A heavy frame is the winner, a dashed one what would have run without tuning. Struck out: pruned "
          "before anything ran; the table below says why.",
      .legend = {},
      .panels = {},
      .optional = true};
  for (results::ResultFile const& file : files) {
    for (Search const& search : file.searches) {
      if (!search.trials.empty()) figure.panels.push_back(panel(search, first_row));
      first_row += search.trials.size();
    }
  }
  if (figure.panels.empty()) figure.caption = "No file of `flashpad tune` was given.";
  return figure;
}

}  // namespace flashpad::html_report
