// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/params.hpp"
#include "kernels/hopper/ptx.hpp"
#include "kernels/hopper/softmax.hpp"

// Parts are added in their order, so the result has the same bits every time.

namespace flashpad::hopper {

/// Joins the parts of rows whose keys were split: one block a row (batch, head, query), two columns a thread.
/// Launched before the parts are there, it waits for them. Together parts are asked for at once, without a
/// branch that a load would wait for: in place of those past the last, the last. Not many more than there
/// are, or registers are short, and few rows under way.
template <class Element, int Together>
__global__ void __launch_bounds__(128) merge_parts(HopperParams const __grid_constant__ p) {
  std::int64_t const rows = static_cast<std::int64_t>(p.batch) * p.heads * p.seq_q;
  std::int64_t const row = blockIdx.x;
  int const column = static_cast<int>(threadIdx.x) * 2;
  int const query = static_cast<int>(row % p.seq_q);
  int const head = static_cast<int>(row / p.seq_q % p.heads);
  int const batch = static_cast<int>(row / p.seq_q / p.heads);
  bool const has_column = column < p.value_dim;
  float const* const from = p.partial + (has_column ? column : 0);
  int const splits = p.schedule.splits;
  wait_for_last_launch();
  float most = -INFINITY, total = 0;
  float2 sum = {0, 0};
  for (int first = 0; first < splits; first += Together) {
    float2 part_sum[Together], o[Together];
#pragma unroll
    for (int i = 0; i < Together; ++i) {
      std::int64_t const at = min(first + i, splits - 1) * rows + row;
      part_sum[i] = p.partial_sums[at];
      o[i] = *reinterpret_cast<float2 const*>(from + at * p.value_dim);
    }
#pragma unroll
    for (int i = 0; i < Together; ++i) {
      if (first + i < splits) continue;
      part_sum[i] = {-INFINITY, 0};
      o[i] = {0, 0};
    }
    float raised = most;
#pragma unroll
    for (int i = 0; i < Together; ++i) raised = fmaxf(raised, part_sum[i].x);
    float const reference = raised == -INFINITY ? 0.0f : raised;
    float const shrink = exp2f(most - reference);
    most = raised;
    total *= shrink;
    sum.x *= shrink;
    sum.y *= shrink;
#pragma unroll
    for (int i = 0; i < Together; ++i) {
      // A part that saw no key has nothing to give, and one that saw a NaN gives it whatever its maximum.
      float const weight = part_sum[i].y == 0 ? 0.0f : part_sum[i].y * exp2f(part_sum[i].x - reference);
      total += weight;
      sum.x += weight * o[i].x;
      sum.y += weight * o[i].y;
    }
  }
  float const inverse = total == 0 ? 0.0f : 1 / total;
  if (has_column)
    *reinterpret_cast<std::uint32_t*>(p.out.row(batch, head, query) + column * 2) =
        pack(sum.x * inverse, sum.y * inverse, static_cast<Element*>(nullptr));
  if (column == 0 && p.lse.data != nullptr)
    p.lse.element<float>(batch, head, query) =
        total == 0 ? -INFINITY : (most + log2f(total)) * 0.693147180559945309f;
}

}  // namespace flashpad::hopper
