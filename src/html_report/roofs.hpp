// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/items.hpp"

#include <string>
#include <vector>

namespace flashpad::html_report {

/// Items with the same text stand under the same roofs: one type on one backend of one machine, with one
/// number of threads. It is the title of their drawing.
std::string roof_group(Item const& item);

/// The roofs over a group: the best that any of the files measured for it, under each name, the highest peak
/// first. The peak of matrix units is one for both 16-bit types: a group of one that has none gets the
/// other's.
results::Roofs roofs_over(std::string const& group, std::vector<Item> const& items);

}  // namespace flashpad::html_report
