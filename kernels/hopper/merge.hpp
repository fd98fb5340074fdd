// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/params.hpp"
#include "kernels/hopper/ptx.hpp"
#include "kernels/hopper/softmax.hpp"

namespace flashpad::hopper {

/// Joins the parts of rows whose keys were split: one block a row (batch, head, query), four columns a
/// thread. Parts are added in their order, so the result has the same bits every time; those of one round are
/// all asked for at once. Launched before the parts are there, it waits for them.
template <class Element>
__global__ void __launch_bounds__(64) merge_parts(HopperParams const __grid_constant__ p) {
  constexpr int together = 16;
  int const splits = p.schedule.splits;
  std::int64_t const rows = static_cast<std::int64_t>(p.batch) * p.heads * p.seq_q;
  std::int64_t const row = blockIdx.x;
  int const column = static_cast<int>(threadIdx.x) * 4;
  int const query = static_cast<int>(row % p.seq_q);
  int const head = static_cast<int>(row / p.seq_q % p.heads);
  int const batch = static_cast<int>(row / p.seq_q / p.heads);
  bool const has_columns = column < p.value_dim;
  wait_for_last_launch();
  float most = -INFINITY, total = 0;
  float sum[4] = {0, 0, 0, 0};
  for (int first = 0; first < splits; first += together) {
    float2 of_part[together];  // reference and sum
    float4 o[together];
#pragma unroll
    for (int i = 0; i < together; ++i) {
      std::int64_t const at = (first + i) * rows + row;
      bool const there = first + i < splits;
      of_part[i] = there ? p.partial_sums[at] : float2{-INFINITY, 0};
      if (there && has_columns)
        o[i] = *reinterpret_cast<float4 const*>(p.partial + at * p.value_dim + column);
    }
    float raised = most;
#pragma unroll
    for (int i = 0; i < together; ++i) raised = fmaxf(raised, of_part[i].x);
    float const reference = raised == -INFINITY ? 0.0f : raised;
    float const shrink = exp2f(most - reference);
    most = raised;
    total *= shrink;
#pragma unroll
    for (int c = 0; c < 4; ++c) sum[c] *= shrink;
#pragma unroll
    for (int i = 0; i < together; ++i) {
      // A part that saw no key has nothing to give, and one that saw a NaN gives it whatever its maximum.
      if (first + i >= splits || of_part[i].y == 0) continue;
      float const weight = of_part[i].y * exp2f(of_part[i].x - reference);
      total += weight;
      sum[0] += weight * o[i].x;
      sum[1] += weight * o[i].y;
      sum[2] += weight * o[i].z;
      sum[3] += weight * o[i].w;
    }
  }
  float const inverse = total == 0 ? 0.0f : 1 / total;
  if (has_columns) {
    auto* const kind = static_cast<Element*>(nullptr);
    *reinterpret_cast<uint2*>(p.out.row(batch, head, query) + column * 2) = make_uint2(
        pack(sum[0] * inverse, sum[1] * inverse, kind), pack(sum[2] * inverse, sum[3] * inverse, kind));
  }
  if (column == 0 && p.lse.data != nullptr)
    p.lse.element<float>(batch, head, query) =
        total == 0 ? -INFINITY : (most + log2f(total)) * 0.693147180559945309f;
}

}  // namespace flashpad::hopper
