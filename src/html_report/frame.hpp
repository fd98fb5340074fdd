// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/scale.hpp"
#include "html_report/svg.hpp"

#include <string>
#include <vector>

namespace flashpad::html_report {

/// The rectangle of a plot in its drawing, and what stands around it.
struct Frame {
  double width = 400;
  double height = 280;
  double left = 54;
  double right = 14;
  double top = 12;
  double bottom = 42;

  [[nodiscard]] double x0() const { return left; }
  [[nodiscard]] double x1() const { return width - right; }
  [[nodiscard]] double y0() const { return height - bottom; }
  [[nodiscard]] double y1() const { return top; }
};

/// Lines across the frame with their labels below it or to its left.
void draw_x_axis(Svg& svg, Frame const& frame, LogScale const& x, std::vector<Tick> const& ticks,
                 std::string const& label);
void draw_y_axis(Svg& svg, Frame const& frame, LogScale const& y, std::vector<Tick> const& ticks,
                 std::string const& label);

/// The ticks of a scale under a way to write numbers.
template <class Write>
std::vector<Tick> labelled(LogScale const& scale, Write const& write) {
  std::vector<Tick> ticks;
  for (double const value : scale.ticks()) ticks.push_back({value, write(value)});
  return ticks;
}

}  // namespace flashpad::html_report
