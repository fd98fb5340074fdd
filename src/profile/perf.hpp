// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <cstdint>
#include <string>

namespace flashpad::profile {

/// Counters of one call from the text that the child prints, a JSON object. Throws Error where a field is no
/// number of 0 or more, or cycles or instructions, without which nothing was counted, are missing or 0.
Counters read_perf(std::string const& text, std::int64_t calls);

}  // namespace flashpad::profile
