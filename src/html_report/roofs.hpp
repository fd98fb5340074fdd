// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/items.hpp"

#include <string>
#include <vector>

namespace flashpad::html_report {

/// Items with the same text stand under the same roofs: one type on one backend of one machine, with one
/// number of threads. It is the title of their drawing.
std::string roof_group(Item const& item);

/// The best that any of these items' files measured, under each name, the highest peak first.
results::Roofs best_roofs(std::vector<Item> const& items);

}  // namespace flashpad::html_report
