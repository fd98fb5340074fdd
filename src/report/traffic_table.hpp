// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <string>
#include <vector>

namespace flashpad::report {

/// The bytes of each row as the model, the tile loop and a profiler have them, side by side, with what else
/// was counted; columns of which no row has a number are left
/// out, and the status where all are ok. Notes below, as in table().
std::string traffic_table(std::string const& title, std::vector<Row> const& rows);

}  // namespace flashpad::report
