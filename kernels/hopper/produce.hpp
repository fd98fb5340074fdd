// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/params.hpp"
#include "kernels/hopper/ptx.hpp"
#include "kernels/hopper/tiling.hpp"

namespace flashpad::hopper {

template <class Tiling>
__device__ inline void copy_q(HopperParams const& p, Shared<Tiling> const& shared, int stage,
                              HopperSchedule::Item const& item) {
  std::uint64_t* const full = shared.q_full + stage;
  unsigned char* const to = shared.q + stage * Tiling::q_bytes;
  barrier_expect(full, p.q_box_bytes * Tiling::d_blocks);
#pragma unroll
  for (int c = 0; c < Tiling::d_blocks; ++c) {
    unsigned char* const block = to + c * Tiling::rows * Tiling::row_bytes;
    if constexpr (Tiling::manner.packed) {
      copy_in(block, &p.q, full, c * 64, 0, query_of(p, item.tile), item.head, item.batch);
    } else {
      copy_in(block, &p.q, full, c * 64, query_of(p, item.tile), item.head, item.batch);
    }
  }
}

/// One thread: hands out work and keeps the rings of Q, K and V filled. The first item of a block is its own
/// number; after that blocks take the next one that nobody has: some finish early under a mask. Tiles of keys
/// go from the last to the first: what a causal mask cuts comes first.
template <class Tiling>
__device__ void produce(HopperParams const& p, Shared<Tiling> const& shared) {
  Ring<Tiling::stages> ring;
  Ring<Tiling::q_stages> q_ring;
  Ring<Tiling::work_slots> work_ring;
  int index = static_cast<int>(blockIdx.x);
  while (true) {
    bool const more = index < p.schedule.size();
    HopperOrder order = {{-1, 0, 0, 0}, {}};
    if (more) {
      order.item = p.schedule.item(index);
      order.walk = walk_of<Tiling::keys>(p, order.item);
    }
    barrier_wait(shared.work_empty + work_ring.stage, work_ring.parity ^ 1);
    shared.work[work_ring.stage] = order;
    barrier_arrive(shared.work_full + work_ring.stage);
    work_ring.next();
    if (!more) return;
    barrier_wait(shared.q_empty + q_ring.stage, q_ring.parity ^ 1);
    HopperSchedule::Item const& item = order.item;
    copy_q<Tiling>(p, shared, q_ring.stage, item);
    q_ring.next();

    int const kv_head = Tiling::manner.packed ? item.head : item.head / p.group;
#pragma unroll 1
    for (int t = order.walk.end - 1; t >= order.walk.begin; --t) {
      // Asked for with the last tile, so that who is done first takes the heaviest item that is left; needed
      // when this one's loads are out.
      if (t == order.walk.begin) index = static_cast<int>(gridDim.x) + atomicAdd(p.next_item, 1);
      int const key = order.walk.first + t * Tiling::keys;
      barrier_wait(shared.k_empty + ring.stage, ring.parity ^ 1);
      barrier_expect(shared.k_full + ring.stage, Tiling::k_bytes);
#pragma unroll
      for (int c = 0; c < Tiling::d_blocks; ++c) {
        copy_in(shared.k + ring.stage * Tiling::k_bytes + c * Tiling::keys * Tiling::row_bytes, &p.k,
                shared.k_full + ring.stage, c * 64, key, kv_head, item.batch);
      }
      barrier_wait(shared.v_empty + ring.stage, ring.parity ^ 1);
      barrier_expect(shared.v_full + ring.stage, Tiling::v_bytes);
#pragma unroll
      for (int c = 0; c < Tiling::dv_blocks; ++c) {
        copy_in(shared.v + ring.stage * Tiling::v_bytes + c * Tiling::keys * Tiling::row_bytes, &p.v,
                shared.v_full + ring.stage, c * 64, key, kv_head, item.batch);
      }
      ring.next();
    }
  }
}

/// The last block to leave puts the counter of work items back to zero, for the next launch.
__device__ inline void reset_work(HopperParams const& p) {
  __threadfence();
  if (atomicAdd(p.next_item + 1, 1) == static_cast<int>(gridDim.x) - 1) {
    p.next_item[0] = 0;
    p.next_item[1] = 0;
  }
}

}  // namespace flashpad::hopper
