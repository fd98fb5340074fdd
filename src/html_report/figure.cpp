// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/figure.hpp"

#include "html_report/scale.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

namespace flashpad::html_report {

std::vector<std::pair<std::string, Style>> legend_of(std::vector<Item> const& items) {
  std::vector<std::pair<std::string, Style>> legend;
  for (Item const& item : contenders_of(items)) legend.emplace_back(item.label, item.style);
  return legend;
}

std::string hint(Item const& item) {
  Row const& row = item.data();
  std::string text = item.label + ", " + item.title;
  if (row.shape.seq_k > 0) text += fmt::format(", N {}", row.shape.seq_k);
  if (row.median_s) text += ": " + report::format_seconds(*row.median_s);
  if (row.tflops) text += fmt::format(", {} TFLOP/s", short_number(*row.tflops));
  if (row.status != Status::ok) text += fmt::format(": {} {}", name(row.status), row.reason);
  return text;
}

}  // namespace flashpad::html_report
