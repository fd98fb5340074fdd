// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"
#include "measure/verify.hpp"

#include <filesystem>

namespace flashpad::measure {

/// `file` with every {case} in it replaced by the case's name.
std::filesystem::path tensor_path(std::filesystem::path const& file, Case const& one);

/// Writes O and LSE where the experiment asks for them: O in the case's layout and its own type (bf16, which
/// .npy lacks, as float32), LSE as (batch, heads, seq_q) in float32, or float64 for fp64. A kernel without O
/// writes LSE alone. Throws Error.
void write_tensors(Output const& output, Case const& one, Outputs const& outputs);

}  // namespace flashpad::measure
