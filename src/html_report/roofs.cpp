// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace flashpad::html_report {

std::string roof_group(Item const& item) {
  results::Entry const& entry = *item.entry;
  std::string text = entry.machine.empty() ? entry.row.backend : entry.machine;
  if (!entry.row.backend.empty() && text != entry.row.backend) text += ", " + entry.row.backend;
  if (entry.threads > 0) text += fmt::format(", {} thread{}", entry.threads, entry.threads == 1 ? "" : "s");
  return entry.row.dtype.empty() ? text : entry.row.dtype + " · " + text;
}

namespace {

results::Roofs best_roofs(std::vector<Item> const& items) {
  results::Roofs best;
  for (Item const& item : items) {
    results::Roofs const& roofs = item.entry->roofs;
    best.bandwidth = std::max(best.bandwidth, roofs.bandwidth);
    for (results::Peak const& peak : roofs.peaks) {
      auto const known = std::find_if(best.peaks.begin(), best.peaks.end(),
                                      [&](results::Peak const& other) { return other.name == peak.name; });
      if (known == best.peaks.end()) {
        best.peaks.push_back(peak);
      } else {
        known->flops = std::max(known->flops, peak.flops);
      }
    }
  }
  std::sort(best.peaks.begin(), best.peaks.end(),
            [](auto const& a, auto const& b) { return a.flops > b.flops; });
  return best;
}

std::vector<Item> members_of(std::string const& group, std::vector<Item> const& items) {
  std::vector<Item> members;
  std::copy_if(items.begin(), items.end(), std::back_inserter(members),
               [&](Item const& item) { return roof_group(item) == group; });
  return members;
}

}  // namespace

results::Roofs roofs_over(std::string const& group, std::vector<Item> const& items) {
  results::Roofs roofs = best_roofs(members_of(group, items));
  for (auto const& [type, twin] : {std::pair{"fp16", "bf16"}, std::pair{"bf16", "fp16"}}) {
    if (!roofs.peaks.empty() || !group.starts_with(type)) continue;
    roofs = best_roofs(members_of(twin + group.substr(std::string_view(type).size()), items));
    std::erase_if(roofs.peaks, [](results::Peak const& peak) { return peak.name != results::matrix_units; });
    if (roofs.peaks.empty()) return {};
    break;
  }
  return roofs;
}

}  // namespace flashpad::html_report
