// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "compare/measurements.hpp"

#include <string>
#include <vector>

namespace flashpad::compare {

/// A fact of the context that is not the same in all files.
struct Difference {
  std::string name;                 ///< "git_revision", "backends.openmp.concurrency"
  std::vector<std::string> values;  ///< one a file; "-" where a file does not tell it
};

/// What differs between the contexts beyond date and command: program, libraries, machine, device, clocks.
/// Numbers that a run measures of the machine (peaks, clocks) differ where they are more than 5 % apart.
std::vector<Difference> differences(std::vector<Measurements> const& files);

}  // namespace flashpad::compare
