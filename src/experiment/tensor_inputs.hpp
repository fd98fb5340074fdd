// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/axes.hpp"

#include <filesystem>

namespace flashpad::sweep {

/// Reads `problem.tensors`: the headers of the three files give the draft its shape, in the draft's layout,
/// and its element type. Throws Error where a file is not what it must be or the three do not fit together.
void read_tensor_inputs(yaml::Node const& tensors, std::filesystem::path const& folder, Draft& draft);

}  // namespace flashpad::sweep
