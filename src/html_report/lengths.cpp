// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/figure.hpp"
#include "html_report/frame.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace flashpad::html_report {

namespace {

std::string seconds(double value) {
  return value >= 1        ? fmt::format("{:g} s", value)
         : value >= 0.9e-3 ? fmt::format("{:g} ms", value * 1e3)
                           : fmt::format("{:g} us", value * 1e6);
}

std::string bytes(double value) {
  static constexpr char const* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:g} {}", value, units[unit]);
}

std::string times(double value) { return short_number(value) + "x"; }

/// A number of a row that is drawn against the length.
struct Quantity {
  char const* id;
  char const* title;
  char const* axis;
  char const* caption;
  std::string (*write)(double);
  std::optional<double> (*of)(Row const&);
  std::optional<double> (*beside)(Row const&);  ///< drawn dashed and hollow, or null
  bool high_is_bad;                             ///< where rows that gave no number are put
};

std::optional<double> none(Row const&) { return {}; }

bool is_baseline(Row const& row) { return row.kernel == "naive"; }

constexpr Quantity quantities[] = {
    {"rate", "TFLOP/s", "TFLOP/s",
     "Higher is better. A causal mask counts the visible pairs, or by the file's own rule.", short_number,
     [](Row const& row) { return row.tflops; }, none, false},
    {"time", "Time", "time of one call", "Lower is better: median of one call, from idle to idle.", seconds,
     [](Row const& row) { return row.median_s; }, none, true},
    {"bytes", "Bytes", "bytes",
     "Solid: traffic to and from memory by the model, an estimate. Dashed and hollow, where there is some: "
     "what a "
     "profiler counted.",
     bytes, [](Row const& row) { return row.bytes_model; }, [](Row const& row) { return row.bytes_measured; },
     true},
    {"speedup", "Speedup and byte ratio", "times naive",
     "Solid: how many times faster than naive. Dashed and hollow: how many times fewer bytes, by the model. "
     "Where the "
     "two meet, bytes are what time is made of.",
     times, [](Row const& row) { return is_baseline(row) ? std::nullopt : row.speedup_vs_naive; },
     [](Row const& row) { return is_baseline(row) || !row.speedup_vs_naive ? std::nullopt : row.byte_ratio; },
     false}};

bool gave_nothing(Row const& row) { return row.status != Status::ok && !row.median_s; }

using Family = std::pair<std::string, std::vector<Item>>;

std::vector<Family> families_with_lengths(std::vector<Item> const& items) {
  std::vector<Family> families = grouped(items, [](Item const& item) { return item.family; });
  std::erase_if(families, [](Family const& family) {
    std::set<double> lengths;
    for (Item const& item : family.second) lengths.insert(item.length());
    return lengths.size() < 2 || *lengths.begin() <= 0;
  });
  return families;
}

// The y axis is shared by all panels of one machine, those with few queries apart: what looks higher is
// higher.
std::string scale_group(Item const& item) {
  return item.entry->machine + (item.data().shape.seq_q == item.data().shape.seq_k ? "\n=" : "\n<");
}

std::map<std::string, Range> ranges_of(std::vector<Family> const& families, Quantity const& quantity) {
  std::map<std::string, Range> ranges;
  for (auto const& [key, items] : families) {
    for (Item const& item : items) {
      Range& range = ranges[scale_group(item)];
      range.take(quantity.of(item.data()).value_or(0));
      range.take(quantity.beside(item.data()).value_or(0));
    }
  }
  return ranges;
}

struct Point {
  double x;
  double y;
  Item const* item;
};

void draw_line(Svg& svg, std::vector<Point> points, std::string const& classes,
               std::string const& mark_classes) {
  std::sort(points.begin(), points.end(), [](Point const& a, Point const& b) { return a.x < b.x; });
  std::string data;
  for (Point const& point : points)
    data += fmt::format("{}{:.1f} {:.1f}", data.empty() ? "M" : "L", point.x, point.y);
  if (points.size() > 1) svg.path(data, classes);
  for (Point const& point : points)
    svg.mark(point.x, point.y, point.item->style, point.item->counts() ? mark_classes : "bad",
             point.item->row, hint(*point.item));
}

Panel panel(Family const& family, Quantity const& quantity, Range const& range) {
  Frame const frame;
  Range lengths;
  std::set<double> at;
  for (Item const& item : family.second) {
    lengths.take(item.length());
    at.insert(item.length());
  }
  LogScale const x(lengths, frame.x0(), frame.x1());
  LogScale const y(range, frame.y0(), frame.y1(), 0.1);
  std::vector<Tick> ticks;
  for (double const length : at) ticks.push_back({length, length_label(length)});
  Svg svg;
  draw_x_axis(svg, frame, x, ticks, "N, keys");
  draw_y_axis(svg, frame, y, labelled(y, quantity.write), quantity.axis);
  for (auto const& [label, items] : grouped(family.second, [](Item const& item) { return item.label; })) {
    std::vector<Point> solid;
    std::vector<Point> dashed;
    svg.open_series(label, items.front().style);
    for (Item const& item : items) {
      if (auto const value = quantity.beside(item.data()); value.value_or(0) > 0)
        dashed.push_back({x(item.length()), y(*value), &item});
      if (auto const value = quantity.of(item.data()); value.value_or(0) > 0) {
        solid.push_back({x(item.length()), y(*value), &item});
      } else if (gave_nothing(item.data()) && !item.data().speedup_vs_naive &&
                 quantity.of != quantities[3].of) {
        double const edge = quantity.high_is_bad ? frame.y1() + 6 : frame.y0() - 6;
        svg.mark(x(item.length()), edge, {item.style.colour, Style::shapes}, "gone", item.row, hint(item));
        svg.text(x(item.length()) - 8, edge + 4, name(item.data().status), "tick", Anchor::end);
      }
    }
    draw_line(svg, dashed, "dashed", "hollow");
    draw_line(svg, solid, "line", "");
    svg.close_series();
  }
  return {family.second.front().title, frame.width, frame.height, svg.body()};
}

bool has_any(Family const& family, Quantity const& quantity) {
  return std::any_of(family.second.begin(), family.second.end(), [&](Item const& item) {
    return quantity.of(item.data()).value_or(0) > 0 || gave_nothing(item.data());
  });
}

}  // namespace

std::vector<Figure> lengths(std::vector<Item> const& items) {
  std::vector<Family> const families = families_with_lengths(items);
  std::vector<Figure> figures;
  for (Quantity const& quantity : quantities) {
    Figure figure{.id = quantity.id,
                  .title = quantity.title,
                  .caption = quantity.caption,
                  .legend = {},
                  .panels = {},
                  .section = "Against the length",
                  .optional = true};
    std::map<std::string, Range> const ranges = ranges_of(families, quantity);
    std::vector<Item> drawn;
    for (Family const& family : families) {
      if (!has_any(family, quantity)) continue;
      Range const& range = ranges.at(scale_group(family.second.front()));
      if (range.empty) continue;
      figure.panels.push_back(panel(family, quantity, range));
      drawn.insert(drawn.end(), family.second.begin(), family.second.end());
    }
    figure.legend = legend_of(drawn);
    if (figure.panels.empty()) figure.caption = "No rows with this number at two lengths or more.";
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace flashpad::html_report
