// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/assets.hpp"
#include "html_report/figures.hpp"
#include "html_report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace flashpad::html_report {

namespace {

constexpr double gap = 18;
constexpr double title_height = 22;
constexpr double legend_height = 24;

// The values that the sheet gives its variables first, those of the light theme.
std::map<std::string, std::string> variables_of(std::string_view css) {
  std::map<std::string, std::string> variables;
  for (std::size_t at = css.find("--"); at != std::string_view::npos; at = css.find("--", at + 2)) {
    std::size_t const end = css.find_first_of(":);", at);
    if (end == std::string_view::npos || css[end] != ':') continue;
    std::size_t const stop = css.find(';', end);
    std::string_view value = css.substr(end + 1, stop - end - 1);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    variables.emplace(css.substr(at, end - at), value);
  }
  return variables;
}

// Programs that draw SVG outside browsers know no var().
std::string resolved(std::string_view css) {
  std::map<std::string, std::string> const variables = variables_of(css);
  std::string text;
  while (true) {
    std::size_t const begin = css.find("var(");
    text += css.substr(0, begin);
    if (begin == std::string_view::npos) return text;
    std::size_t const end = css.find(')', begin);
    text += variables.at(std::string(css.substr(begin + 4, end - begin - 4)));
    css.remove_prefix(end + 1);
  }
}

double text_width(std::string_view text) { return 7.2 * static_cast<double>(text.size()); }

std::string legend(Figure const& figure, double width, double& y) {
  Svg svg;
  double x = gap;
  for (auto const& [label, style] : figure.legend) {
    std::string const text = shorten(label, 40);
    double const needed = text_width(text) + 28;
    if (x > gap && x + needed > width) {
      x = gap;
      y += legend_height;
    }
    svg.mark(x + 5, y + 10, style, "");
    svg.text(x + 16, y + 14, text, "name");
    x += needed;
  }
  if (!figure.legend.empty()) y += legend_height + 4;
  return svg.body();
}

Picture picture(Figure const& figure) {
  auto const columns = static_cast<std::size_t>(
      std::min(4.0, std::ceil(std::sqrt(static_cast<double>(figure.panels.size())))));
  double cell = 0;
  for (Panel const& panel : figure.panels) cell = std::max(cell, panel.width);
  double const width = gap + static_cast<double>(columns) * (cell + gap);
  double y = gap / 2;
  std::string body = legend(figure, width, y);
  for (std::size_t first = 0; first < figure.panels.size(); first += columns) {
    double height = 0;
    for (std::size_t p = first; p < std::min(first + columns, figure.panels.size()); ++p) {
      Panel const& panel = figure.panels[p];
      double const x = gap + static_cast<double>(p - first) * (cell + gap);
      Svg title;
      title.text(x + 4, y + 14, shorten(panel.title, static_cast<std::size_t>(cell / 6.6)), "title");
      body += title.body() + fmt::format(R"svg(<g transform="translate({:.1f} {:.1f})">{}</g>)svg", x,
                                         y + title_height, panel.body);
      height = std::max(height, panel.height + title_height);
    }
    y += height + gap / 2;
  }
  return {
      figure.id,
      fmt::format(
          R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}">)"
          "\n<title>{2}</title>\n<style>{3}</style>\n{4}<rect width=\"100%\" height=\"100%\" "
          "class=\"paper\"/>\n{5}</svg>\n",
          width, y, escape(figure.title), resolved(assets::figure_css), shape_definitions(), body)};
}

}  // namespace

std::vector<Picture> pictures(std::vector<results::ResultFile> const& files) {
  std::vector<Item> const items = items_of(files);
  std::vector<Picture> all;
  for (Figure const& figure : figures_of(files, items)) {
    if (!figure.panels.empty()) all.push_back(picture(figure));
  }
  return all;
}

}  // namespace flashpad::html_report
