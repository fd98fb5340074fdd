// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include "kernels/fused/schedule.hpp"
#include "kernels/operand.hpp"
#include "problem/walk.hpp"

namespace flashpad {

/// What a split writes instead of O: its own normalised O and (max, sum), contiguous over (split, batch,
/// head, row), in the type of arithmetic. One merge joins them.
struct Partials {
  void* o = nullptr;    // [splits][batch][heads][seq_q][value_dim]
  void* max = nullptr;  // [splits][batch][heads][seq_q]
  void* sum = nullptr;
  double log_unit =
      1;  ///< natural logarithm of the base of `max`: 1, or ln 2 where an engine counts in powers of 2
};

/// All that a tiled kernel needs to know of one call, on any backend.
struct FusedProblem {
  Shape shape;
  BandVariant variant;
  double scale = 1;
  int tile_q = 0;
  int tile_k = 0;
  bool skip_hidden = true;
  bool with_values = true;  ///< false: statistics only
  Schedule schedule;
  Operand q, k, v, o;
  Operand lse, max, sum;  ///< data is null where not wanted
  Partials partials;      ///< used when schedule.splits > 1

  FLASHPAD_FUNCTION std::int64_t group_size() const { return quotient(shape.heads, shape.kv_heads); }

  /// Index of a query row among all partial rows.
  FLASHPAD_FUNCTION std::int64_t partial_row(WorkItem const& item, std::int64_t row) const {
    return ((item.split * shape.batch + item.batch) * shape.heads + item.head) * shape.seq_q + row;
  }
};

}  // namespace flashpad
