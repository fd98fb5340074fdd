// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/axes.hpp"

#include <vector>

namespace flashpad::sweep {

/// The product of all axes, the first varying slowest, each case checked, completed and named. Cases that
/// differ only in an option that their kernel has no use for are one case. Throws Error where the product
/// passes max_cases and where values that are fine alone do not fit together; `at` is the place of `problem`.
std::vector<Case> expand(Draft const& start, std::vector<Axis> const& axes, yaml::Location const& at);

}  // namespace flashpad::sweep
