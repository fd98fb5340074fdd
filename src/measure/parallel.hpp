// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace flashpad::measure {

/// Numbers of the processors that this process may run on, whichever of them its threads are bound to.
std::vector<int> own_processors();

/// Cores that this process may run on: its affinity, cut down to a cgroup's CPU quota.
int available_cores();

/// Calls body(begin, end) on pieces of [0, count) from as many threads as there are cores: the driver's own
/// work (inputs, the reference), kept apart from the execution space that is being measured. The first
/// exception of a piece is rethrown here.
void parallel_ranges(std::int64_t count, std::int64_t piece,
                     std::function<void(std::int64_t, std::int64_t)> const& body);

}  // namespace flashpad::measure
