// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/document.hpp"
#include "experiment/experiment.hpp"

namespace flashpad::sweep {

/// Reads what holds for all cases into `experiment`: name, memory_limit, verify, expected_speedup, timing.
void read_settings(yaml::Node const& root, Experiment& experiment);

/// Reads `tune:`, what `flashpad tune` searches.
void read_tune(yaml::Node const& root, Experiment& experiment);

/// Reads `output:`, against the cases that are already expanded: no two results may go to one file, and
/// none may replace the experiment or a tensor that it reads.
void read_output(yaml::Node const& root, Experiment& experiment);

}  // namespace flashpad::sweep
