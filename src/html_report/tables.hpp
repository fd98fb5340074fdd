// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/items.hpp"

#include <string>
#include <vector>

namespace flashpad::html_report {

/// HTML: every row with the numbers that matter. Row i has the id "row<i>", which marks name as their
/// data-row.
std::string rows_table(std::vector<Item> const& items);

/// HTML: every configuration that was tried, numbered from `first_row`; empty where there is none.
std::string trials_table(std::vector<results::ResultFile> const& files, std::size_t first_row);

/// HTML: menus that keep only the rows with one value of a column, for columns with two values or more.
std::string menus(std::vector<Item> const& items);

/// HTML: what each file says of the machine and the build, side by side; rows where files differ are marked.
std::string contexts_table(std::vector<results::ResultFile> const& files);

}  // namespace flashpad::html_report
