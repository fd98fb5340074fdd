// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace flashpad::app {

/// Flags of Google Benchmark, with those that its environment variables (BENCHMARK_OUT and so on) stand for.
/// Throws Error on a value that a flag does not take: the library prints its usage and ends with 0 for some,
/// says more than one line for others, and takes the rest for something else.
std::vector<std::string> checked_benchmark_flags(std::vector<std::string> flags);

/// The value that the flags give --benchmark_`name`: the last one's, empty where there is none.
std::string benchmark_value(std::vector<std::string> const& flags, std::string_view name);

/// Throws Error where --benchmark_filter keeps no case, or is no regular expression.
void require_match(std::vector<std::string> const& flags, Experiment const& experiment);

}  // namespace flashpad::app
