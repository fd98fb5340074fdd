// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/figure.hpp"
#include "html_report/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flashpad::html_report {

namespace {

constexpr double row_height = 24;

std::optional<double> fraction_of(Row const& row) {
  if (!row.max_abs_err || !row.tolerance || !(*row.tolerance > 0)) return {};
  return *row.max_abs_err / *row.tolerance;
}

Panel panel(std::string const& dtype, std::vector<Item> const& items) {
  auto const contenders = grouped(items, [](Item const& item) { return item.label; });
  Frame frame{.width = 452, .left = 152, .right = 16, .top = 8};
  frame.height = frame.top + frame.bottom + row_height * static_cast<double>(contenders.size());
  Range range;
  range.take(1);
  range.take(0.01);
  for (Item const& item : items) range.take(fraction_of(item.data()).value_or(0));
  LogScale const x(range, frame.x0(), frame.x1());
  Svg svg;
  svg.rectangle(x(1), frame.y1(), frame.x1() - x(1), frame.y0() - frame.y1(), "forbidden");
  draw_x_axis(svg, frame, x, labelled(x, short_number), "largest error / tolerance");
  svg.line(x(1), frame.y1(), x(1), frame.y0(), "bound");
  double y = frame.top + row_height / 2;
  for (auto const& [label, members] : contenders) {
    svg.open_series(label, members.front().style);
    svg.text(frame.x0() - 8, y + 4, shorten(label, 21), "name", Anchor::end);
    for (Item const& item : members) {
      double const fraction = fraction_of(item.data()).value_or(0);
      bool const wrong = item.data().verified == false;
      // An exact row has no logarithm: it stands at the left edge.
      double const at = fraction > 0 && std::isfinite(fraction) ? x(fraction)
                        : wrong                                 ? frame.x1()
                                                                : frame.x0() + 2;
      Style const style = wrong ? Style{item.style.colour, Style::shapes} : item.style;
      svg.mark(at, y, style, wrong ? "bad" : "faint", item.row, hint(item));
    }
    svg.close_series();
    y += row_height;
  }
  return {dtype, frame.width, frame.height, svg.body()};
}

}  // namespace

Figure errors(std::vector<Item> const& items) {
  std::vector<Item> checked;
  for (Item const& item : items) {
    if (fraction_of(item.data()) || item.data().verified == false) checked.push_back(item);
  }
  Figure figure{.id = "errors",
                .title = "Error against tolerance",
                .caption = {},
                .legend = {},
                .panels = {},
                .optional = items.empty()};
  for (auto const& [dtype, members] : grouped(checked, [](Item const& item) { return item.data().dtype; }))
    figure.panels.push_back(panel(dtype, members));
  auto const wrong = std::count_if(checked.begin(), checked.end(),
                                   [](Item const& item) { return item.data().verified == false; });
  if (checked.empty()) {
    figure.caption =
        "These files hold no errors: nothing was verified in them, or the verdict alone was kept.";
  } else {
    figure.caption = fmt::format(
        "Largest |O - reference| over what is allowed; right of the line a row fails. {} of {} checked rows "
        "are within.",
        checked.size() - static_cast<std::size_t>(wrong), checked.size());
    if (checked.size() < items.size())
      figure.caption += fmt::format(" {} of all {} rows have no error on file.",
                                    items.size() - checked.size(), items.size());
  }
  return figure;
}

}  // namespace flashpad::html_report
