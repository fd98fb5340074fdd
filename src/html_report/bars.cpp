// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/figure.hpp"
#include "html_report/scale.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace flashpad::html_report {

namespace {

constexpr double row_height = 38;
constexpr double names = 152;
constexpr double values = 78;  // the longest is "0.000123", in a phone's letters
constexpr double width = 452;

std::string beside(Row const& row) {
  std::string text = report::format_seconds(*row.median_s);
  if (row.speedup_vs_naive && row.kernel != "naive")
    text += fmt::format(" · {}x naive", short_number(*row.speedup_vs_naive));
  if (row.roof_fraction && row.flag != "suspect")
    text += fmt::format(" · {:.0f} % of roof", 100 * *row.roof_fraction);
  return text;
}

Panel panel(std::vector<Item> items) {
  std::stable_sort(items.begin(), items.end(), [](Item const& a, Item const& b) {
    return a.data().tflops.value_or(-1) > b.data().tflops.value_or(-1);
  });
  double const most = std::max(items.front().data().tflops.value_or(0), 1e-12);
  double const height = 10 + row_height * static_cast<double>(items.size());
  double const room = width - names - values;
  Svg svg;
  double y = 6;
  for (Item const& item : items) {
    Row const& row = item.data();
    svg.open_series(item.label, item.style);
    svg.text(names - 8, y + 12, shorten(item.label, 21), "name", Anchor::end);
    if (row.tflops && row.median_s) {
      double const length = std::max(room * *row.tflops / most, 1.0);
      svg.rectangle(names, y, length, 15, item.counts() ? "bar" : "bar bad", item.row, hint(item));
      svg.text(names + length + 6, y + 12, short_number(*row.tflops), "value");
      svg.text(names, y + 28, item.counts() ? beside(row) : "failed: not counted", "small");
    } else {
      svg.mark(names + 6, y + 8, {item.style.colour, Style::shapes}, "gone", item.row, hint(item));
      svg.text(names + 16, y + 12, name(row.status), "tick");
    }
    svg.close_series();
    y += row_height;
  }
  svg.line(names, 2, names, height - 4, "axis");
  return {items.front().title, width, height, svg.body()};
}

}  // namespace

Figure bars(std::vector<Item> const& items) {
  Figure figure{.id = "bars",
                .title = "Who is fastest",
                .caption =
                    "TFLOP/s at the greatest length of each kind, the fastest first. Rows of one panel may "
                    "differ in batch and heads; the table says which.",
                .legend = {},
                .panels = {},
                .optional = true};
  for (auto const& [family, members] : grouped(items, [](Item const& item) { return item.family; })) {
    double longest = 0;
    for (Item const& item : members) longest = std::max(longest, item.length());
    std::vector<Item> shown;
    std::copy_if(members.begin(), members.end(), std::back_inserter(shown),
                 [&](Item const& item) { return item.length() == longest; });
    figure.panels.push_back(panel(shown));
    if (longest > 0) figure.panels.back().title += fmt::format(" · N {}", length_label(longest));
  }
  return figure;
}

}  // namespace flashpad::html_report
