// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/params.hpp"
#include "kernels/hopper/ptx.hpp"
#include "kernels/hopper/wgmma.hpp"

namespace flashpad::hopper {

/// Shape of one instantiation. D and Dv are buckets of the head dimensions, in whole rows of 128 bytes; what
/// lies beyond the true dimension arrives as zeros and is not written. A warpgroup takes 64 query rows.
template <class T, int D, int Dv, int Warpgroups, int Keys, int Stages>
struct Tiling {
  using Element = T;
  static constexpr int d = D;
  static constexpr int dv = Dv;
  static constexpr int warpgroups = Warpgroups;  // consumers; one more produces
  static constexpr int rows = 64 * Warpgroups;
  static constexpr int keys = Keys;
  static constexpr int stages = Stages;
  static constexpr int threads = 128 * (Warpgroups + 1);
  // Of 65,536 registers: what consumers need at most, in the multiples of 8 that setmaxnreg takes.
  static constexpr int producer_registers = Warpgroups == 2 ? 40 : 32;
  static constexpr int consumer_registers = Warpgroups == 2 ? 232 : 160;

  static constexpr int row_bytes = 128;  // 64 elements: the width of the swizzle
  static constexpr int work_slots = 2;
  static constexpr int q_bytes = rows * D * 2;
  static constexpr int k_bytes = keys * D * 2;
  static constexpr int v_bytes = keys * Dv * 2;
  static constexpr int o_bytes = rows * Dv * 2;
  static constexpr int barrier_bytes = 256;
  static constexpr int shared_bytes = 1024 + q_bytes + stages * (k_bytes + v_bytes) + o_bytes + barrier_bytes;
};

/// The parts of a block's shared memory, each aligned to the swizzle's 1024 bytes.
template <class Tiling>
struct Shared {
  unsigned char *q, *k, *v, *o;
  std::uint64_t *q_full, *q_empty, *k_full, *k_empty, *v_full, *v_empty, *work_full, *work_empty;
  int* work;  // index of the work item in each slot; -1: no more

  __device__ explicit Shared(unsigned char* memory) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory);
    q = memory + ((address + 1023) / 1024 * 1024 - address);
    k = q + Tiling::q_bytes;
    v = k + Tiling::stages * Tiling::k_bytes;
    o = v + Tiling::stages * Tiling::v_bytes;
    q_full = reinterpret_cast<std::uint64_t*>(o + Tiling::o_bytes);
    q_empty = q_full + 1;
    k_full = q_full + 2;
    k_empty = k_full + Tiling::stages;
    v_full = k_empty + Tiling::stages;
    v_empty = v_full + Tiling::stages;
    work_full = v_empty + Tiling::stages;
    work_empty = work_full + Tiling::work_slots;
    work = reinterpret_cast<int*>(work_empty + Tiling::work_slots);
  }
};

/// Place in a ring of stages; `parity` is that of the phase a consumer waits for.
template <int Stages>
struct Ring {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void next() {
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <class Tiling>
inline __device__ TileWalk walk_of(HopperParams const& p, HopperSchedule::Item const& item) {
  std::int64_t const first = static_cast<std::int64_t>(item.tile) * Tiling::rows;
  std::int64_t const last = first + Tiling::rows < p.seq_q ? first + Tiling::rows : p.seq_q;
  return make_walk(p.variant, first, last, Tiling::keys);
}

/// One thread: hands out work and keeps the rings of Q, K and V filled. The first item of a block is its own
/// number; after that blocks take the next one that nobody has: some finish early under a mask.
template <class Tiling>
__device__ void produce(HopperParams const& p, Shared<Tiling> const& shared) {
  Ring<Tiling::stages> ring;
  std::uint32_t q_parity = 0;
  Ring<Tiling::work_slots> work_ring;
  int index = static_cast<int>(blockIdx.x);
  while (true) {
    bool const more = index < p.schedule.size();
    barrier_wait(shared.work_empty + work_ring.stage, work_ring.parity ^ 1);
    shared.work[work_ring.stage] = more ? index : -1;
    barrier_arrive(shared.work_full + work_ring.stage);
    work_ring.next();
    if (!more) return;

    HopperSchedule::Item const item = p.schedule.item(index);
    // Asked for now, needed when this item's loads are out.
    index = static_cast<int>(gridDim.x) + atomicAdd(p.next_item, 1);
    TileWalk const walk = walk_of<Tiling>(p, item);
    if (walk.tiles == 0) continue;
    int const kv_head = item.head / p.group;

    barrier_wait(shared.q_empty, q_parity ^ 1);
    q_parity ^= 1;
    barrier_expect(shared.q_full, Tiling::q_bytes);
#pragma unroll
    for (int c = 0; c < Tiling::d; c += 64) {
      copy_in(shared.q + c * Tiling::rows * 2, &p.q, shared.q_full, c, item.tile * Tiling::rows, item.head,
              item.batch);
    }
    int const tiles = static_cast<int>(walk.tiles);
    for (int t = 0; t < tiles; ++t) {
      int const key = static_cast<int>(walk.first_key) + t * Tiling::keys;
      barrier_wait(shared.k_empty + ring.stage, ring.parity ^ 1);
      barrier_expect(shared.k_full + ring.stage, Tiling::k_bytes);
#pragma unroll
      for (int c = 0; c < Tiling::d; c += 64) {
        copy_in(shared.k + ring.stage * Tiling::k_bytes + c * Tiling::keys * 2, &p.k,
                shared.k_full + ring.stage, c, key, kv_head, item.batch);
      }
      barrier_wait(shared.v_empty + ring.stage, ring.parity ^ 1);
      barrier_expect(shared.v_full + ring.stage, Tiling::v_bytes);
#pragma unroll
      for (int c = 0; c < Tiling::dv; c += 64) {
        copy_in(shared.v + ring.stage * Tiling::v_bytes + c * Tiling::keys * 2, &p.v,
                shared.v_full + ring.stage, c, key, kv_head, item.batch);
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

inline __device__ std::uint32_t pack(float low, float high, __half*) {
  __half2 const pair = __floats2half2_rn(low, high);
  return reinterpret_cast<std::uint32_t const&>(pair);
}
inline __device__ std::uint32_t pack(float low, float high, __nv_bfloat16*) {
  __nv_bfloat162 const pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<std::uint32_t const&>(pair);
}

/// A warpgroup's state: 64 query rows, two of them in each thread (wgmma.hpp has the layout).
template <class Tiling>
struct Consumer {
  using Element = typename Tiling::Element;
  static constexpr int score_count = Tiling::keys / 2;
  static constexpr int output_count = Tiling::dv / 2;

  HopperParams const& p;
  Shared<Tiling> const& shared;
  int warpgroup;  // 0 is the first consumer
  int lane = static_cast<int>(threadIdx.x) % 32;
  int warp = static_cast<int>(threadIdx.x) % 128 / 32;
  Ring<Tiling::stages> k_ring, v_ring;
  std::uint32_t q_parity = 0;
  Ring<Tiling::work_slots> work_ring;

  float s[score_count];
  float o[output_count];
  std::uint32_t probabilities[score_count / 4][2];
  float max[2], sum[2];

  __device__ Consumer(HopperParams const& params, Shared<Tiling> const& memory, int index)
      : p(params), shared(memory), warpgroup(index) {}

  /// Warpgroups take turns at the tensor cores, so that one's softmax hides under another's products.
  __device__ void wait_turn() const { named_sync(1 + warpgroup, 256); }
  __device__ void pass_turn() const { named_arrive(1 + (warpgroup + 1) % Tiling::warpgroups, 256); }

  __device__ void start_scores() {
    std::uint64_t const q =
        matrix_descriptor(shared_address(shared.q) + warpgroup * 64 * Tiling::row_bytes, 0);
    std::uint64_t const k = matrix_descriptor(shared_address(shared.k) + k_ring.stage * Tiling::k_bytes, 0);
    pin(s);
    products_fence();
#pragma unroll
    for (int c = 0; c < Tiling::d; c += 16) {
      // In units of 16 bytes: 32 bytes a step inside a row, then on to the next block of 64 columns.
      int const q_step = (c / 64 * Tiling::rows * Tiling::row_bytes + c % 64 * 2) >> 4;
      int const k_step = (c / 64 * Tiling::keys * Tiling::row_bytes + c % 64 * 2) >> 4;
      Product<Element, Tiling::keys>::rows(s, q + q_step, k + k_step, c > 0);
    }
    products_commit();
    pin(s);
  }

  __device__ void start_values(bool first) {
    std::uint64_t const v = matrix_descriptor(shared_address(shared.v) + v_ring.stage * Tiling::v_bytes,
                                              Tiling::keys * Tiling::row_bytes);
    pin(o);
    products_fence();
#pragma unroll
    for (int j = 0; j < Tiling::keys / 16; ++j) {
      std::uint32_t const a[4] = {probabilities[2 * j][0], probabilities[2 * j][1],
                                  probabilities[2 * j + 1][0], probabilities[2 * j + 1][1]};
      Product<Element, Tiling::dv>::columns(o, a, v + ((j * 16 * Tiling::row_bytes) >> 4), !first || j > 0);
    }
    products_commit();
    pin(o);
  }

  /// Hides what the band hides, and the keys past the last. `diagonal` is the key that the warpgroup's first
  /// row is aligned with, `keys` the number of keys, both counted from the tile's first.
  __device__ void mask(int diagonal, int keys) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int const row = diagonal + warp * 16 + lane / 4 + half * 8;
      int const low = p.left < 0 ? 0 : row - p.left;
      int const high = p.right < 0 ? keys - 1 : min(keys - 1, row + p.right);
#pragma unroll
      for (int j = 0; j < Tiling::keys / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          int const key = j * 8 + lane % 4 * 2 + e;
          if (key < low || key > high) s[4 * j + 2 * half + e] = -INFINITY;
        }
      }
    }
  }

  /// Scores to probabilities, in place; returns the factors of what was summed before.
  __device__ void softmax(float (&alpha)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = max[half];
#pragma unroll
      for (int j = 0; j < Tiling::keys / 8; ++j) {
        most = fmaxf(most, fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1]));
      }
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      // -infinity - -infinity would be NaN: a row that has seen no key yet takes 0 as its reference.
      float const reference = most == -INFINITY ? 0.0f : most * p.scale_log2;
      alpha[half] = exp2_approx(max[half] * p.scale_log2 - reference);
      max[half] = most;
      float total = 0;
#pragma unroll
      for (int j = 0; j < Tiling::keys / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& score = s[4 * j + 2 * half + e];
          score = exp2_approx(score * p.scale_log2 - reference);
          total += score;
        }
      }
      sum[half] = sum[half] * alpha[half] + total;  // of this thread's columns; joined at the end
    }
  }

  __device__ void round_probabilities() {
#pragma unroll
    for (int j = 0; j < Tiling::keys / 8; ++j) {
      probabilities[j][0] = pack(s[4 * j], s[4 * j + 1], static_cast<Element*>(nullptr));
      probabilities[j][1] = pack(s[4 * j + 2], s[4 * j + 3], static_cast<Element*>(nullptr));
    }
  }

  __device__ void rescale(float const (&alpha)[2]) {
#pragma unroll
    for (int j = 0; j < Tiling::dv / 8; ++j) {
      o[4 * j] *= alpha[0];
      o[4 * j + 1] *= alpha[0];
      o[4 * j + 2] *= alpha[1];
      o[4 * j + 3] *= alpha[1];
    }
  }

  /// One thread of each warp says so; the barriers count warps.
  __device__ void release(std::uint64_t* barrier) const {
    __syncwarp();
    if (lane == 0) barrier_arrive(barrier);
  }

  /// Tiles [begin, end) of the block's walk that some row of this warpgroup sees; keys [clear, clear_end) are
  /// seen by all of its rows.
  struct Span {
    int first_key, tiles, begin, end, clear, clear_end;
  };

  __device__ Span span_of(TileWalk const& walk, int row_begin) const {
    int const row_end = min(row_begin + 64, p.seq_q);
    Span span = {static_cast<int>(walk.first_key), static_cast<int>(walk.tiles), 0, 0, 0, 0};
    span.begin = span.end = span.tiles;
    if (row_begin >= row_end) return span;
    KeyRange const any = p.variant.any(row_begin, row_end);
    KeyRange const all = p.variant.all(row_begin, row_end);
    if (any.size() == 0) return span;
    span.begin = static_cast<int>(any.begin - walk.first_key) / Tiling::keys;
    span.end = (static_cast<int>(any.end - walk.first_key) + Tiling::keys - 1) / Tiling::keys;
    span.clear = static_cast<int>(all.begin);
    span.clear_end = static_cast<int>(all.end);
    return span;
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

  __device__ void prepare(Span const& span, int t, int row_begin) {
    if (p.sign != 1) {
#pragma unroll
      for (int i = 0; i < score_count; ++i) s[i] *= p.sign;
    }
    int const key = span.first_key + t * Tiling::keys;
    if (key < span.clear || key + Tiling::keys > span.clear_end)
      mask(row_begin + p.offset - key, p.seq_k - key);
  }

  __device__ void tile(HopperSchedule::Item const& item) {
    int const row_begin = item.tile * Tiling::rows + warpgroup * 64;
    Span const span = span_of(walk_of<Tiling>(p, item), row_begin);
    max[0] = max[1] = -INFINITY;
    sum[0] = sum[1] = 0;
    if (span.tiles > 0) {
      barrier_wait(shared.q_full, q_parity);
      q_parity ^= 1;
    }
    skip(span.begin);
    if (span.begin < span.end) {
      visit(span, row_begin);
    } else {
      if (span.tiles > 0) release(shared.q_empty);
#pragma unroll
      for (int i = 0; i < output_count; ++i) o[i] = 0;
    }
    skip(span.tiles - span.end);
    if (row_begin < p.seq_q) finish(item, row_begin);
  }

  __device__ void visit(Span const& span, int row_begin) {
    float alpha[2];
    barrier_wait(shared.k_full + k_ring.stage, k_ring.parity);
    wait_turn();
    start_scores();
    pass_turn();
    products_wait<0>();
    pin(s);
    release(shared.k_empty + k_ring.stage);
    k_ring.next();
    prepare(span, span.begin, row_begin);
    softmax(alpha);
    round_probabilities();

#pragma unroll 1
    for (int t = span.begin + 1; t < span.end; ++t) {
      barrier_wait(shared.k_full + k_ring.stage, k_ring.parity);
      wait_turn();
      start_scores();
      barrier_wait(shared.v_full + v_ring.stage, v_ring.parity);
      start_values(t == span.begin + 1);
      pass_turn();
      products_wait<1>();
      pin(s);
      release(shared.k_empty + k_ring.stage);
      k_ring.next();
      prepare(span, t, row_begin);
      softmax(alpha);
      products_wait<0>();
      pin(o);
      release(shared.v_empty + v_ring.stage);
      v_ring.next();
      rescale(alpha);
      round_probabilities();
    }
    release(shared.q_empty);
    barrier_wait(shared.v_full + v_ring.stage, v_ring.parity);
    start_values(span.begin + 1 == span.end);
    products_wait<0>();
    pin(o);
    release(shared.v_empty + v_ring.stage);
    v_ring.next();
  }

  /// O through shared memory, in the swizzle of its tensor map, and out by the copy engine.
  __device__ void finish(HopperSchedule::Item const& item, int row_begin) {
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = sum[half];
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      total += __shfl_xor_sync(0xffffffffu, total, 2);
      inverse[half] = total == 0 ? 0.0f : 1 / total;
      int const row = row_begin + warp * 16 + lane / 4 + half * 8;
      if (p.lse.data != nullptr && lane % 4 == 0 && row < p.seq_q) {
        constexpr float ln_2 = 0.693147180559945309f;
        p.lse.element<float>(item.batch, item.head, row) =
            total == 0 ? -INFINITY : max[half] * p.scale_log2 * ln_2 + logf(total);
      }
    }
    unsigned char* const mine = shared.o + warpgroup * 64 * Tiling::dv * 2;
    // The last tile's copy out may still be reading.
    if (threadIdx.x % 128 == 0) copy_out_wait_read();
    named_sync(8 + warpgroup, 128);
    std::uint32_t const base = shared_address(mine);
    int const row = warp * 16 + lane % 16;
#pragma unroll
    for (int j = 0; j < Tiling::dv / 8; j += 2) {
      std::uint32_t const r[4] = {
          pack(o[4 * j] * inverse[0], o[4 * j + 1] * inverse[0], static_cast<Element*>(nullptr)),
          pack(o[4 * j + 2] * inverse[1], o[4 * j + 3] * inverse[1], static_cast<Element*>(nullptr)),
          pack(o[4 * j + 4] * inverse[0], o[4 * j + 5] * inverse[0], static_cast<Element*>(nullptr)),
          pack(o[4 * j + 6] * inverse[1], o[4 * j + 7] * inverse[1], static_cast<Element*>(nullptr))};
      int const chunk = j + lane / 16;  // of 8 elements
      store_matrices(base + chunk / 8 * 64 * Tiling::row_bytes + row * Tiling::row_bytes +
                         ((chunk % 8) ^ (row % 8)) * 16,
                     r);
    }
    proxy_fence();
    named_sync(8 + warpgroup, 128);
    if (threadIdx.x % 128 == 0) {
#pragma unroll
      for (int c = 0; c < Tiling::dv; c += 64) {
        copy_out(&p.o, mine + c * 64 * 2, c, row_begin, item.head, item.batch);
      }
      copy_out_commit();
    }
  }

  __device__ void run() {
    // The first warpgroup's turn comes first.
    if (warpgroup == Tiling::warpgroups - 1) pass_turn();
    while (true) {
      barrier_wait(shared.work_full + work_ring.stage, work_ring.parity);
      // By shuffle, so that the compiler knows it for the same in all lanes, and keeps what follows from it
      // in uniform registers.
      int const index = __shfl_sync(0xffffffffu, shared.work[work_ring.stage], 0);
      release(shared.work_empty + work_ring.stage);
      work_ring.next();
      if (index < 0) break;
      tile(p.schedule.item(index));
    }
    if (warpgroup == 0) wait_turn();  // takes the last arrival off the barrier
    if (threadIdx.x % 128 == 0) copy_out_wait();
  }
};

/// Fused attention for Hopper (FlashAttention-3: Shah et al. 2024, arXiv:2407.08608): one warpgroup copies
/// tiles of K and V into a ring in shared memory, the others multiply and take turns, blocks stay and fetch
/// the next query tile.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads, 1) hopper_forward(HopperParams const __grid_constant__ p) {
  extern __shared__ unsigned char memory[];
  Shared<Tiling> const shared(memory);
  if (threadIdx.x == 0) {
    barrier_init(shared.q_full, 1);
    barrier_init(shared.q_empty, 4 * Tiling::warpgroups);
    for (int slot = 0; slot < Tiling::work_slots; ++slot) {
      barrier_init(shared.work_full + slot, 1);
      barrier_init(shared.work_empty + slot, 4 * Tiling::warpgroups);
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
    give_registers<Tiling::producer_registers>();
    if (threadIdx.x == 0) {
      prefetch_map(&p.q);
      prefetch_map(&p.k);
      prefetch_map(&p.v);
      prefetch_map(&p.o);
      produce<Tiling>(p, shared);
      reset_work(p);
    }
  } else {
    take_registers<Tiling::consumer_registers>();
    Consumer<Tiling>(p, shared, warpgroup - 1).run();
  }
}

}  // namespace flashpad::hopper
