// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/figure.hpp"
#include "html_report/frame.hpp"
#include "html_report/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace flashpad::html_report {

namespace {

struct Plane {
  Frame frame;
  LogScale x;
  LogScale y;  ///< TFLOP/s
};

Plane plane_of(std::vector<Item> const& items, results::Roofs const& roofs) {
  Frame frame{.width = 560, .height = 380, .left = 58, .right = 16, .top = 16, .bottom = 46};
  Range x;
  Range y;
  for (Item const& item : items) {
    x.take(*item.data().intensity);
    y.take(*item.data().tflops);
  }
  for (results::Peak const& peak : roofs.peaks) {
    y.take(peak.flops / 1e12);
    if (roofs.bandwidth <= 0) continue;
    constexpr double slope = 6;  // this far left of the ridge the slanted roof is still seen
    x.take(peak.flops / roofs.bandwidth);
    x.take(peak.flops / roofs.bandwidth / slope);
  }
  return {frame, LogScale(x, frame.x0(), frame.x1(), 0.12), LogScale(y, frame.y0(), frame.y1(), 0.1)};
}

void draw_roofs(Svg& svg, Plane const& plane, results::Roofs const& roofs) {
  double last = -1e9;
  for (results::Peak const& peak : roofs.peaks) {
    double const height = plane.y(peak.flops / 1e12);
    double const ridge = roofs.bandwidth > 0 ? peak.flops / roofs.bandwidth : plane.x.low();
    double const from = plane.x(std::max(ridge, plane.x.low()));
    svg.line(from, height, plane.frame.x1(), height, "roof");
    // Where the next roof is just below, its name goes under the line.
    double const above = height - last < 18 ? height + 14 : height - 6;
    last = height;
    svg.text(plane.frame.x1() - 2, above,
             fmt::format("{} {} TFLOP/s", peak.name, short_number(peak.flops / 1e12)), "rooflabel",
             Anchor::end);
  }
  if (roofs.bandwidth <= 0) return;
  double const top = roofs.peaks.empty() ? plane.y.high() : roofs.peaks.front().flops / 1e12;
  auto const rate = [&](double intensity) { return intensity * roofs.bandwidth / 1e12; };
  double const low = std::max(plane.x.low(), plane.y.low() / rate(1));
  double const high = std::min(top / rate(1), plane.x.high());
  if (low >= high) return;
  double const x1 = plane.x(low);
  double const y1 = plane.y(rate(low));
  double const x2 = plane.x(high);
  double const y2 = plane.y(rate(high));
  svg.line(x1, y1, x2, y2, "roof");
  double const angle = std::atan2(y2 - y1, x2 - x1) * 180 / std::numbers::pi;
  svg.slanted_text((x1 + x2) / 2, (y1 + y2) / 2, angle, -7,
                   fmt::format("{} GB/s", short_number(roofs.bandwidth / 1e9)), "rooflabel");
}

Panel panel(std::string const& title, std::vector<Item> const& items, results::Roofs const& roofs) {
  Plane const plane = plane_of(items, roofs);
  Svg svg;
  draw_x_axis(svg, plane.frame, plane.x, labelled(plane.x, short_number), "FLOP per byte of the model");
  draw_y_axis(svg, plane.frame, plane.y, labelled(plane.y, short_number), "TFLOP/s");
  draw_roofs(svg, plane, roofs);
  if (roofs.peaks.empty() && roofs.bandwidth <= 0)
    svg.text(plane.frame.x0() + 10, plane.frame.y1() + 16, "no measured roof in these files", "rooflabel");
  for (auto const& [label, marks] : grouped(items, [](Item const& item) { return item.label; })) {
    svg.open_series(label, marks.front().style);
    for (Item const& item : marks) {
      svg.mark(plane.x(*item.data().intensity), plane.y(*item.data().tflops), item.style,
               item.counts() ? "" : "bad", item.row, hint(item));
    }
    svg.close_series();
  }
  return {title, plane.frame.width, plane.frame.height, svg.body()};
}

}  // namespace

Figure roofline(std::vector<Item> const& items) {
  std::vector<Item> placed;
  bool estimated = false;
  for (Item const& item : items) {
    Row const& row = item.data();
    if (!(row.intensity.value_or(0) > 0) || !(row.tflops.value_or(0) > 0)) continue;
    placed.push_back(item);
    estimated = estimated || item.entry->estimated;
  }
  Figure figure{.id = "roofline",
                .title = "Under the roof",
                .caption = {},
                .legend = legend_of(placed),
                .panels = {},
                .optional = items.empty()};
  for (auto const& [title, members] : grouped(placed, roof_group))
    figure.panels.push_back(panel(title, members, roofs_over(title, items)));
  figure.caption =
      placed.empty()
          ? "No row has both a rate and an intensity."
          : "Each mark is a row; the lines are what this machine was measured to do. Bytes are the model's "
            "(estimates): arguments once, and for kernels that store scores those too.";
  if (placed.size() < items.size() && !placed.empty())
    figure.caption += fmt::format(" {} of {} rows have no intensity and are not drawn here.",
                                  items.size() - placed.size(), items.size());
  if (estimated) figure.caption += " Where a file has no bytes, the model's were worked out for this page.";
  return figure;
}

}  // namespace flashpad::html_report
