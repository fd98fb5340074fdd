// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/params.hpp"
#include "kernels/hopper/ptx.hpp"
#include "kernels/hopper/softmax.hpp"

namespace flashpad::hopper {

/// Joins the parts of rows whose keys were split: one block a row (batch, head, query), two columns a thread.
/// Parts are added in their order, so the result has the same bits every time.
template <class Element>
__global__ void __launch_bounds__(128) merge_parts(HopperParams const __grid_constant__ p) {
  std::int64_t const rows = static_cast<std::int64_t>(p.batch) * p.heads * p.seq_q;
  std::int64_t const row = blockIdx.x;
  int const column = static_cast<int>(threadIdx.x) * 2;
  float most = -INFINITY;
  for (int part = 0; part < p.schedule.splits; ++part)
    most = fmaxf(most, p.partial_sums[part * rows + row].x);
  float const reference = most == -INFINITY ? 0.0f : most;
  float total = 0;
  float2 sum = {0, 0};
  for (int part = 0; part < p.schedule.splits; ++part) {
    float2 const part_sum = p.partial_sums[part * rows + row];
    // A part that saw no key has nothing to give, and one that saw a NaN gives it whatever its maximum.
    float const weight = part_sum.y == 0 ? 0.0f : part_sum.y * exp2f(part_sum.x - reference);
    total += weight;
    if (column < p.value_dim) {
      float2 const o =
          *reinterpret_cast<float2 const*>(p.partial + (part * rows + row) * p.value_dim + column);
      sum.x += weight * o.x;
      sum.y += weight * o.y;
    }
  }
  int const query = static_cast<int>(row % p.seq_q);
  int const head = static_cast<int>(row / p.seq_q % p.heads);
  int const batch = static_cast<int>(row / p.seq_q / p.heads);
  float const inverse = total == 0 ? 0.0f : 1 / total;
  if (column < p.value_dim)
    *reinterpret_cast<std::uint32_t*>(p.out.row(batch, head, query) + column * 2) =
        pack(sum.x * inverse, sum.y * inverse, static_cast<Element*>(nullptr));
  if (column == 0 && p.lse.data != nullptr)
    p.lse.element<float>(batch, head, query) =
        total == 0 ? -INFINITY : (reference + log2f(total)) * 0.693147180559945309f;
}

}  // namespace flashpad::hopper
