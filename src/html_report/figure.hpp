// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/items.hpp"
#include "html_report/svg.hpp"

#include <string>
#include <utility>
#include <vector>

namespace flashpad::html_report {

/// One drawing of a figure: small enough that a phone shows it whole.
struct Panel {
  std::string title;
  double width = 0;
  double height = 0;
  std::string body;  ///< SVG elements
};

struct Figure {
  std::string id;
  std::string title;
  std::string caption;
  std::vector<std::pair<std::string, Style>> legend;
  std::vector<Panel> panels;  ///< none: `caption` says why
  std::string section = {};   ///< figures in a row with the same one are its tabs
  bool optional = false;      ///< without panels it is left out, not explained
};

Figure roofline(std::vector<Item> const& items);
/// TFLOP/s, time, bytes, and speedup beside the byte ratio, against the length: families with two lengths or
/// more.
std::vector<Figure> lengths(std::vector<Item> const& items);
/// TFLOP/s at the greatest length of each family.
Figure bars(std::vector<Item> const& items);
Figure errors(std::vector<Item> const& items);
/// `first_row`: number of the first trial in the report.
Figure tiles(std::vector<results::ResultFile> const& files, std::size_t first_row);

/// The panels whose order is that of their first item, with the items of each.
template <class Key>
std::vector<std::pair<std::string, std::vector<Item>>> grouped(std::vector<Item> const& items,
                                                               Key const& key) {
  std::vector<std::pair<std::string, std::vector<Item>>> groups;
  for (Item const& item : items) {
    std::string const name = key(item);
    auto group = groups.begin();
    while (group != groups.end() && group->first != name) ++group;
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->second.push_back(item);
  }
  return groups;
}

/// Contenders of these items, in the order of their first use.
std::vector<std::pair<std::string, Style>> legend_of(std::vector<Item> const& items);

/// What a mark says where no script and no table is at hand: in a file of its own.
std::string hint(Item const& item);

}  // namespace flashpad::html_report
