// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace flashpad::profile {

/// Counters of one call from the counter_collection.csv of each pass of rocprofv3: those of the dispatches
/// between the kernels that mark the range. Throws Error where a pass lacks the range or a counter,
/// where a number cannot be, or where the dispatches had no wavefront or asked the second-level cache for
/// nothing.
Counters read_rocprof(std::vector<std::string> const& passes, std::int64_t calls);

}  // namespace flashpad::profile
