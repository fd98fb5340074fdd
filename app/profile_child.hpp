// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "command.hpp"

namespace flashpad::app {

/// `flashpad profile` as its own child, under a profiler: one case, and a range of calls.
struct ProfileChild {
  std::string name;   ///< of the case; empty in the parent
  std::string range;  ///< how the range is told: profile::Range
};

/// Options that `flashpad profile` gives its child; help does not show them.
void add_profile_child(CLI::App& command, ProfileChild& child);

/// Runs the case in steady state, with the range around `calls` of its calls. Where the child counts for
/// itself it prints the counters as JSON.
int profile_child(ExperimentArguments const& arguments, ProfileChild const& child, std::int64_t calls,
                  Invocation const& invocation);

}  // namespace flashpad::app
