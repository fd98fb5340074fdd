// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

namespace flashpad {

/// Whether the engine for few query rows is the host's faster one: the other engines give each head's rows
/// whole vectors of lanes, however few there are, and read K and V once for each query head.
inline bool few_rows(Shape const& shape) { return shape.seq_q <= 16; }

}  // namespace flashpad
