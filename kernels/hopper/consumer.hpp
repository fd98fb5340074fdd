// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/epilogue.hpp"
#include "kernels/hopper/wgmma.hpp"

namespace flashpad::hopper {

/// One warpgroup's part of a work item: the tiles of keys [begin, end) that some of its 64 rows sees. What
/// follows from the order's slot is read again where it is needed: registers are short.
template <class Tiling>
struct Work {
  int slot;                    // of the order
  int key;                     // first of tile 0
  int diagonal;                // key that the block's first row is aligned with
  int walk_begin, walk_end;    // of the block
  int begin, end;              // tiles
  int clear_begin, clear_end;  // keys that all rows see
  int q_stage;
  bool half;  // of the last tile, only the first half of its keys is seen

  /// A lane's value for the whole warp: the compiler then knows it for uniform.
  static __device__ int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

  __device__ void read(HopperParams const& p, HopperOrder const& order, int block) {
    int const tile_query = query_of(p, uniform(order.item.tile));
    diagonal = tile_query + p.band.offset;
    key = uniform(order.walk.first);
    begin = walk_begin = uniform(order.walk.begin);
    end = walk_end = uniform(order.walk.end);
    half = false;
    clear_begin = clear_end = 0;
    int first_query, last;
    if constexpr (Tiling::manner.packed) {
      first_query = block * 64 / p.group;
      last = min(p.tile_queries, (block * 64 + 63) / p.group + 1);
    } else {
      first_query = block * 64;
      last = block * 64 + 64;
    }
    first_query += tile_query;
    last = min(last + tile_query, p.seq_q);
    begin = end;
    if (first_query < 0 || first_query >= last) return;
    int const last_key = p.band.end(last - 1);
    clear_begin = p.band.begin(last - 1);
    clear_end = p.band.end(first_query);
    int const to = min(walk_end, (last_key - key + Tiling::keys - 1) / Tiling::keys);
    int const from = max(walk_begin, (p.band.begin(first_query) - key) / Tiling::keys);
    if (from >= to) return;
    begin = from;
    end = to;
    half = last_key - (key + (end - 1) * Tiling::keys) <= Tiling::keys / 2;
  }
};

/// A warpgroup that multiplies: 64 query rows, two of them in each thread.
template <class Tiling>
struct Consumer {
  using Element = typename Tiling::Element;
  static constexpr Manner manner = Tiling::manner;
  static constexpr int keys = Tiling::keys;

  HopperParams const& p;
  Shared<Tiling> const& shared;
  Place<Tiling> place;
  Ring<Tiling::stages> k_ring, v_ring;
  Ring<Tiling::q_stages> q_ring;
  Ring<Tiling::work_slots> work_ring;
  int leaving = -1;  // stage of Q through which O is on its way out

  float s[keys / 2];
  float o[Tiling::dv / 2];
  std::uint32_t probabilities[keys / 4];
  Softmax softmax;

  __device__ Consumer(HopperParams const& params, Shared<Tiling> const& memory, int index)
      : p(params), shared(memory), place{index, index} {}

  /// Warpgroups take turns at the tensor cores, so that one's softmax hides under another's products.
  __device__ void wait_turn() const {
    if constexpr (manner.turns && Tiling::warpgroups > 1) named_sync(1 + place.warpgroup, 256);
  }
  __device__ void pass_turn() const {
    if constexpr (manner.turns && Tiling::warpgroups > 1)
      named_arrive(1 + (place.warpgroup + 1) % Tiling::warpgroups, 256);
  }

  __device__ void start_scores(int q_stage) {
    std::uint64_t const q = matrix_descriptor(
        shared_address(shared.q) + q_stage * Tiling::q_bytes + place.block() * 64 * Tiling::row_bytes, 0);
    std::uint64_t const k = matrix_descriptor(shared_address(shared.k) + k_ring.stage * Tiling::k_bytes, 0);
    pin(s);
    products_fence();
#pragma unroll
    for (int c = 0; c < Tiling::d; c += 16) {
      // In units of 16 bytes: 32 bytes a step inside a row, then on to the next block of 64 columns.
      int const q_step = (c / 64 * Tiling::rows * Tiling::row_bytes + c % 64 * 2) >> 4;
      int const k_step = (c / 64 * keys * Tiling::row_bytes + c % 64 * 2) >> 4;
      Product<Element, keys>::rows(s, q + q_step, k + k_step, c > 0);
    }
    products_commit();
    pin(s);
  }

  __device__ void start_values(bool first) {
    std::uint64_t const v = matrix_descriptor(shared_address(shared.v) + v_ring.stage * Tiling::v_bytes,
                                              keys * Tiling::row_bytes);
    pin(o);
    products_fence();
#pragma unroll
    for (int j = 0; j < keys / 16; ++j) {
      std::uint32_t const a[4] = {probabilities[4 * j], probabilities[4 * j + 1], probabilities[4 * j + 2],
                                  probabilities[4 * j + 3]};
      Product<Element, Tiling::dv>::columns(o, a, v + ((j * 16 * Tiling::row_bytes) >> 4), !first || j > 0);
    }
    products_commit();
    pin(o);
  }

  /// One thread of each warp says so; the barriers of K and V count warps.
  __device__ void release(std::uint64_t* barrier) const {
    __syncwarp();
    if (place.lane == 0) barrier_arrive(barrier);
  }

  /// Gives back the stage of Q through which the last O left.
  __device__ void free_q() {
    if (leaving >= 0 && place.first_thread()) {
      copy_out_wait_read();
      barrier_arrive(shared.q_empty + leaving);
    }
    leaving = -1;
  }

  /// Lets tiles go by that none of this warpgroup's rows sees.
  __device__ void skip(int tiles) {
#pragma unroll 1
    for (int t = 0; t < tiles; ++t) {
      wait_turn();
      pass_turn();
      barrier_wait(shared.k_full + k_ring.stage, k_ring.parity);
      release(shared.k_empty + k_ring.stage);
      k_ring.next();
      barrier_wait(shared.v_full + v_ring.stage, v_ring.parity);
      release(shared.v_empty + v_ring.stage);
      v_ring.next();
    }
  }

  template <int Keys>
  __device__ void prepare(Work<Tiling> const& work, int t) {
    if (p.sign != 1) {
#pragma unroll
      for (int i = 0; i < Keys / 2; ++i) s[i] *= p.sign;
    }
    int const key = work.key + t * keys;
    if (key >= work.clear_begin && key + Keys <= work.clear_end) return;
    int const first = work.diagonal - key;
    int const row = place.row();
    int const diagonal[2] = {first + (manner.packed ? row / p.group : row),
                             first + (manner.packed ? (row + 8) / p.group : row + 8)};
    mask_scores<Keys>(s, p.band, diagonal, p.band.seq_k - key);
  }

  /// Scores of an item's first tile, and their probabilities.
  __device__ void begin(Work<Tiling> const& work) {
    barrier_wait(shared.k_full + k_ring.stage, k_ring.parity);
    wait_turn();
    start_scores(work.q_stage);
    pass_turn();
    free_q();
    products_wait<0>();
    pin(s);
    release(shared.k_empty + k_ring.stage);
    k_ring.next();
    float alpha[2];
    softmax.reset();
    if (work.half) {
      constexpr int half = keys / 2;
      prepare<half>(work, work.end - 1);
      softmax.template update<half>(s, p.scale_log2, alpha);
#pragma unroll
      for (int i = half / 2; i < keys / 2; ++i) s[i] = 0;
    } else {
      prepare<keys>(work, work.end - 1);
      softmax.template update<keys>(s, p.scale_log2, alpha);
    }
    round_probabilities<Element, keys>(s, probabilities);
  }

  /// Waits for the values that are under way.
  __device__ void close() {
    products_wait<0>();
    pin(o);
    release(shared.v_empty + v_ring.stage);
    v_ring.next();
  }

  /// The tiles of an item after its first: scores of one tile with the values of the one before it, then
  /// the softmax, while other warpgroups multiply.
  __device__ void visit_others(Work<Tiling> const& work) {
    bool k_ready = false, v_ready = false;
#pragma unroll 1
    for (int t = work.end - 2; t >= work.begin; --t) {
      if (!k_ready) barrier_wait(shared.k_full + k_ring.stage, k_ring.parity);
      wait_turn();
      start_scores(work.q_stage);
      if (!v_ready) barrier_wait(shared.v_full + v_ring.stage, v_ring.parity);
      start_values(t == work.end - 2);
      pass_turn();
      products_wait<1>();
      pin(s);
      release(shared.k_empty + k_ring.stage);
      k_ring.next();
      close();
      k_ready = barrier_test(shared.k_full + k_ring.stage, k_ring.parity);
      v_ready = barrier_test(shared.v_full + v_ring.stage, v_ring.parity);
      prepare<keys>(work, t);
      if (softmax.template speculate<Element, keys>(s, p.scale_log2, probabilities)) continue;
      float alpha[2];
      softmax.template update<keys>(s, p.scale_log2, alpha);
      rescale(o, alpha);
      round_probabilities<Element, keys>(s, probabilities);
    }
  }

  __device__ void start_last_values(Work<Tiling> const& work) {
    barrier_wait(shared.v_full + v_ring.stage, v_ring.parity);
    start_values(work.end - work.begin == 1);
  }

  /// Whether a warpgroup that begins at this query position has any row.
  __device__ bool has_rows(int first_query) const { return first_query >= 0 && first_query < p.seq_q; }

  __device__ void finish(Work<Tiling> const& work) {
    HopperSchedule::Item const item = shared.work[work.slot].item;
    if constexpr (manner.packed) {
      store_packed<Tiling>(p, place, softmax, o, item);
      place.sync_warpgroup();  // all four warps are done with Q
    } else if (has_rows(query_of(p, item.tile) + place.block() * 64)) {
      if constexpr (manner.straight) {
        store_straight<Tiling>(p, place, softmax, o, item);
      } else {
        store_tile<Tiling>(p, place, shared.q + work.q_stage * Tiling::q_bytes, softmax, o, item);
      }
    }
    // Every thread for itself: racecheck does not follow its read through the warp to one that arrives for
    // all.
    barrier_arrive(shared.work_empty + work.slot);
    if constexpr (!manner.straight) leaving = work.q_stage;
    if constexpr (Tiling::q_stages == 1) free_q();
  }

  /// Waits until the next work item is told; false when there is none.
  __device__ bool more_work() const {
    barrier_wait(shared.work_full + work_ring.stage, work_ring.parity);
    return Work<Tiling>::uniform(shared.work[work_ring.stage].item.batch) >= 0;
  }

  /// Under a mask the last rows of a tile see more tiles of keys than the first: warpgroups take them in
  /// turn, and none waits for the others.
  __device__ int block_of(int slot) const {
    static_assert(!manner.rotates || Tiling::warpgroups == Tiling::work_slots);
    int const block = place.warpgroup + slot;
    return block < Tiling::warpgroups ? block : block - Tiling::warpgroups;
  }

  /// Item after item; tiles that only other warpgroups see are passed over.
  __device__ void run_items() {
    bool more = more_work();
    while (more) {
      Work<Tiling> work;
      work.slot = work_ring.stage;
      place.moved = block_of(work.slot);
      work.read(p, shared.work[work.slot], place.block());
      work_ring.next();
      barrier_wait(shared.q_full + q_ring.stage, q_ring.parity);
      work.q_stage = q_ring.stage;
      q_ring.next();
      skip(work.walk_end - work.end);
      // The producer tells of the next item when this one's last tile is on its way.
      int const trail = work.begin - work.walk_begin;
      if (work.begin < work.end) {
        begin(work);
        visit_others(work);
        if constexpr (manner.straight) release(shared.q_empty + work.q_stage);
        start_last_values(work);
        if (trail == 0) more = more_work();
        close();
      } else {
        free_q();
        if constexpr (manner.straight) release(shared.q_empty + work.q_stage);
        if (trail == 0) more = more_work();
        softmax.reset();
#pragma unroll
        for (int i = 0; i < Tiling::dv / 2; ++i) o[i] = 0;
      }
      finish(work);
      skip(trail);
      if (trail > 0) more = more_work();
    }
  }

  __device__ void run() {
    // The first warpgroup's turn comes first.
    if (place.warpgroup == Tiling::warpgroups - 1) pass_turn();
    run_items();
    if (place.warpgroup == 0) wait_turn();  // takes the last arrival off the barrier
    if (place.first_thread()) copy_out_wait();
  }
};

}  // namespace flashpad::hopper
