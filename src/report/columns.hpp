// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <functional>
#include <string>
#include <vector>

namespace flashpad::report {

/// One column of a table for the terminal.
struct Column {
  std::string header;
  bool left;  ///< aligned; numbers go to the right
  std::function<std::string(Row const&)> cell;
};

/// Headers and one aligned line a row, at most 120 columns wide. The first column is `case`: the words that
/// begin every case's name are said once, above, and what does not fit loses its middle.
std::string aligned(std::vector<Column> const& columns, std::vector<Row> const& rows);

/// Line by line, what a row has to say: why it failed or ran out of memory, what `auto` chose.
std::string notes(std::vector<Row> const& rows);

/// The number, or "-" where there is none.
std::string number_or_dash(std::optional<double> const& value, char const* format);

}  // namespace flashpad::report
