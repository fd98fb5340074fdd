// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace flashpad::measure {

// Parts of the names of two empty kernels that mark a range for a profiler that lists dispatches.
constexpr char const* range_begin_mark = "FlashpadRangeBegin";
constexpr char const* range_end_mark = "FlashpadRangeEnd";

}  // namespace flashpad::measure
