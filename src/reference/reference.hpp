// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include <cstdint>

namespace flashpad {

/// Inputs of the reference: contiguous float64, q (batch, heads, seq_q, head_dim), k (batch, kv_heads, seq_k,
/// head_dim), v (batch, kv_heads, seq_k, value_dim). v may be null: then no o is written.
struct ReferenceProblem {
  Shape shape;
  Mask mask;
  double scale = 1;
  double const* q = nullptr;
  double const* k = nullptr;
  double const* v = nullptr;
};

/// Evaluates one query row by the textbook formula, in float64. It stands for the definition: it shares no
/// mask, tile or index code with any kernel, and must stay so. Any of o (value_dim), lse, max and sum may be
/// null. A row that sees no key, or only scores of -infinity, gives o = 0, lse = max = -infinity, sum = 0.
void reference_row(ReferenceProblem const& problem, std::int64_t b, std::int64_t h, std::int64_t i, double* o,
                   double* lse, double* max, double* sum);

}  // namespace flashpad
