// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/figure.hpp"

#include <utility>
#include <vector>

namespace flashpad::html_report {

/// All figures, in their order on the page. A new one is a line here.
inline std::vector<Figure> figures_of(std::vector<results::ResultFile> const& files,
                                      std::vector<Item> const& items) {
  std::vector<Figure> figures{bars(items)};
  for (Figure& figure : lengths(items)) figures.push_back(std::move(figure));
  figures.push_back(roofline(items));
  figures.push_back(tiles(files, items.size()));
  figures.push_back(errors(items));
  return figures;
}

}  // namespace flashpad::html_report
