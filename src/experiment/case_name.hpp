// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"

#include <string>

namespace flashpad::sweep {

/// The inputs and the operation in one word that is safe in a file name: "b2_h8_n512_d64_fp32_causal". Two
/// cases of one experiment have the same word only if they compute the same from the same.
std::string problem_name(Case const& c);

/// How it is computed, likewise: "fused", "fused_t64x128_noskip_openmp". Only what was asked for is named.
std::string method_name(Case const& c);

}  // namespace flashpad::sweep
