// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/consumer.hpp"
#include "kernels/hopper/produce.hpp"

namespace flashpad::hopper {

/// Fused attention for Hopper (FlashAttention-3: Shah et al. 2024, arXiv:2407.08608): one warpgroup copies
/// tiles of K and V into a ring in shared memory, the others multiply and take turns, blocks stay and fetch
/// the next query tile.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads, Tiling::blocks)
    hopper_forward(HopperParams const __grid_constant__ p) {
  extern __shared__ unsigned char memory[];
  Shared<Tiling> const shared(memory);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Tiling::q_stages; ++stage) {
      barrier_init(shared.q_full + stage, 1);
      barrier_init(shared.q_empty + stage, Tiling::q_arrivals);
    }
    for (int slot = 0; slot < Tiling::work_slots; ++slot) {
      barrier_init(shared.work_full + slot, 1);
      barrier_init(shared.work_empty + slot, 128 * Tiling::warpgroups);
    }
    for (int stage = 0; stage < Tiling::stages; ++stage) {
      barrier_init(shared.k_full + stage, 1);
      barrier_init(shared.v_full + stage, 1);
      barrier_init(shared.k_empty + stage, 4 * Tiling::warpgroups);
      barrier_init(shared.v_empty + stage, 4 * Tiling::warpgroups);
    }
    barrier_init_fence();
  }
  __syncthreads();
  int const warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
  if (warpgroup == 0) {
    if constexpr (Tiling::moves_registers) give_registers<Tiling::producer_registers>();
    if (threadIdx.x == 0) {
      prefetch_map(&p.q);
      prefetch_map(&p.k);
      prefetch_map(&p.v);
      if constexpr (!Tiling::manner.packed && !Tiling::manner.straight) prefetch_map(&p.o);
      if constexpr (Tiling::manner.packed) let_next_launch_begin();  // the merge, which waits for the end
      produce<Tiling>(p, shared);
      reset_work(p);
    }
  } else {
    if constexpr (Tiling::moves_registers) take_registers<Tiling::consumer_registers>();
    Consumer<Tiling>(p, shared, warpgroup - 1).run();
  }
}

}  // namespace flashpad::hopper
