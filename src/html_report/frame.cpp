// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/frame.hpp"

#include <limits>

namespace flashpad::html_report {

void draw_x_axis(Svg& svg, Frame const& frame, LogScale const& x, std::vector<Tick> const& ticks,
                 std::string const& label) {
  constexpr double least_distance = 30;  // labels closer than this would touch
  double last = -std::numeric_limits<double>::infinity();
  for (Tick const& tick : ticks) {
    double const at = x(tick.value);
    svg.line(at, frame.y1(), at, frame.y0(), "gridline");
    if (at - last < least_distance) continue;
    svg.text(at, frame.y0() + 15, tick.label, "tick", Anchor::middle);
    last = at;
  }
  svg.line(frame.x0(), frame.y0(), frame.x1(), frame.y0(), "axis");
  svg.text((frame.x0() + frame.x1()) / 2, frame.height - 6, label, "label", Anchor::middle);
}

void draw_y_axis(Svg& svg, Frame const& frame, LogScale const& y, std::vector<Tick> const& ticks,
                 std::string const& label) {
  for (Tick const& tick : ticks) {
    double const at = y(tick.value);
    svg.line(frame.x0(), at, frame.x1(), at, "gridline");
    svg.text(frame.x0() - 6, at + 4, tick.label, "tick", Anchor::end);
  }
  svg.upright_text(12, (frame.y0() + frame.y1()) / 2, label, "label");
}

}  // namespace flashpad::html_report
