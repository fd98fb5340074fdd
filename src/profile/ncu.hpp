// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <cstdint>
#include <string>

namespace flashpad::profile {

/// Counters of one call from the log of `ncu --csv`, in which `calls` were profiled: pages raw (a column a
/// metric, units in the second line) and details (a line a metric), units scaled or not. Metrics of several
/// kernels are added up; ratios are weighted by the kernels' bytes in the second-level cache. Throws Denied
/// where the driver keeps counters from this user; Error where the log lacks a metric, has it in an unknown
/// unit or beyond 100 %, or where no kernel had a warp or asked the second-level cache for anything.
Counters read_ncu(std::string const& log, std::int64_t calls);

}  // namespace flashpad::profile
