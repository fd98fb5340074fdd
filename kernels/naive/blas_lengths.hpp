// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>
#include <flashpad/problem.hpp>

#include "problem/text.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace flashpad {

/// Refuses lengths that a BLAS, which counts in int, cannot hold with `padding` more.
inline void require_blas_lengths(Shape const& shape, char const* kernel, std::int64_t padding = 0) {
  std::int64_t const most = std::numeric_limits<int>::max() - padding;
  for (auto const& [argument, value] : {std::pair{"seq_q", shape.seq_q}, std::pair{"seq_k", shape.seq_k}}) {
    if (value > most)
      throw Error(
          detail::text(argument, ": ", value, " is too long for ", kernel, "; allowed: up to ", most));
  }
}

}  // namespace flashpad
