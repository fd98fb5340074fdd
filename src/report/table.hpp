// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <string>
#include <vector>

namespace flashpad::report {

/// The numbers that matter, one line a row, aligned, at most 120 columns wide; below them, line by line, what
/// a row has to say (why it failed or ran out of memory, what `auto` chose, flags).
std::string table(std::string const& title, std::vector<Row> const& rows);

/// "1.23 ms", "45.6 us", "2.00 s".
std::string format_seconds(double seconds);

/// With so many decimals, or "1.2e+09" where that would be long or show nothing but zeros.
std::string format_fixed(double value, int digits);

/// "1.50 GiB", "512 B".
std::string format_bytes(double bytes);

}  // namespace flashpad::report
