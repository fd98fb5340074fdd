// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include <cstdint>

namespace flashpad {

/// Whether the engine for few query rows is the host's faster one: the other engines give each head's rows
/// whole vectors of lanes, however few there are, and read K and V once for each query head. It keeps a row
/// of all query heads of a key head at once; beyond 1 MiB of floats they are too many for that.
inline bool few_rows(Shape const& shape) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 18;
  std::int64_t const of_a_head = shape.head_dim + shape.value_dim;
  return shape.seq_q <= 16 &&
         (shape.kv_heads == 0 || shape.heads / shape.kv_heads <= most_elements / of_a_head);
}

}  // namespace flashpad
