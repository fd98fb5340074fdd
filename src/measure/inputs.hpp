// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace flashpad::measure {

/// Inputs of one problem in float64, contiguous b, h, n, d: exactly the values that the kernel gets in the
/// case's element type.
struct Inputs {
  std::vector<double> q, k, v;
  bool finite = true;     ///< no NaN and no infinity anywhere
  std::string converted;  ///< "float16 to fp32" where the element type of a file was not the case's
};

/// Element `index` (of the contiguous tensor) that a distribution has for a seed. It depends on nothing else:
/// not on the layout, the number of threads or the standard library's generators.
///
/// normal: mean 0, deviation 1. uniform: [-1, 1). unbalanced: normal, and blocks of 32 keys of K scaled in
/// turn by 0.25, 1, 4, 0.5, 8, 2, so that the running maximum of a row moves from tile to tile. constant: 0.5
/// everywhere, so that all scores are equal and O is 0.5.
enum class Tensor : std::uint8_t { q, k, v };
double generated(Distribution distribution, std::uint64_t seed, Tensor tensor, std::uint64_t index,
                 std::int64_t row);

/// Throws Error where a file of the cases has a number that would become infinity in a case's type. Reads
/// files whose own type reaches further than that, and no others.
void require_range(std::vector<Case> const& cases);

/// Generates the case's inputs, or reads its files. Throws Error where a file is at fault, as one is that
/// require_range() refuses.
Inputs make_inputs(Case const& one);

}  // namespace flashpad::measure
