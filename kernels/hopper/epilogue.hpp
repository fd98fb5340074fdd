// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/softmax.hpp"
#include "kernels/hopper/tiling.hpp"

namespace flashpad::hopper {

/// Where a thread stands among the consumers.
template <class Tiling>
struct Place {
  int warpgroup;                                        // 0 is the first consumer
  int moved;                                            // see block()
  int warp = static_cast<int>(threadIdx.x % 128 / 32);  // unsigned, as division by shifts is
  int lane = static_cast<int>(threadIdx.x % 32);

  /// Which 64 rows of the tile its warpgroup takes.
  __device__ int block() const { return Tiling::manner.rotates ? moved : warpgroup; }
  /// First of the thread's two rows of the tile; the other is 8 further.
  __device__ int row() const { return block() * 64 + warp * 16 + lane / 4; }
  __device__ void sync_warpgroup() const { named_sync(8 + warpgroup, 128); }
  __device__ bool first_thread() const { return threadIdx.x % 128 == 0; }
};

/// 64 rows of O through the shared memory of their Q, in the swizzle of the tensor map, and out by the copy
/// engine.
template <class Tiling>
__device__ void store_tile(HopperParams const& p, Place<Tiling> const& place, unsigned char* q,
                           Softmax& softmax, float const (&o)[Tiling::dv / 2],
                           HopperSchedule::Item const& item) {
  using Element = typename Tiling::Element;
  float inverse[2];
  softmax.close(inverse);
  int const first_row = query_of(p, item.tile);
  unsigned char* const mine = q + place.block() * 64 * Tiling::row_bytes;
  // Lane l of a warp gives row l % 16; the two halves of the warp take neighbouring chunks of 16 bytes, and a
  // chunk's place in its row of 128 bytes is its number xor the row's.
  int const row = place.warp * 16 + place.lane % 16;
  std::uint32_t const base = shared_address(mine) + row * Tiling::row_bytes;
  std::uint32_t const chunk = (place.lane / 16 ^ row % 8) * 16;
  place.sync_warpgroup();  // all four warps are done with the scores, and so with Q
#pragma unroll
  for (int j = 0; j < Tiling::dv / 8; j += 2) {
    std::uint32_t const r[4] = {
        pack(o[4 * j] * inverse[0], o[4 * j + 1] * inverse[0], static_cast<Element*>(nullptr)),
        pack(o[4 * j + 2] * inverse[1], o[4 * j + 3] * inverse[1], static_cast<Element*>(nullptr)),
        pack(o[4 * j + 4] * inverse[0], o[4 * j + 5] * inverse[0], static_cast<Element*>(nullptr)),
        pack(o[4 * j + 6] * inverse[1], o[4 * j + 7] * inverse[1], static_cast<Element*>(nullptr))};
    store_matrices(base + j / 8 * Tiling::rows * Tiling::row_bytes + (chunk ^ j % 8 * 16), r);
  }
  proxy_fence();
  place.sync_warpgroup();
  if (place.first_thread()) {
#pragma unroll
    for (int c = 0; c < Tiling::dv_blocks; ++c) {
      copy_out(&p.o, mine + c * Tiling::rows * Tiling::row_bytes, c * 64, first_row + place.block() * 64,
               item.head, item.batch);
    }
    copy_out_commit();
  }
  // After the fence, which would wait for these stores.
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int const lse_row = first_row + place.row() + half * 8;
    if (p.lse.data != nullptr && place.lane % 4 == 0 && lse_row < p.seq_q)
      p.lse.element<float>(item.batch, item.head, lse_row) = softmax.lse(half);
  }
}

/// Four words that each lane has of four blocks of 8 columns, of which lane l % 4 of those that share a row
/// has columns 2 (l % 4) and the next: afterwards it has all of block l % 4.
__device__ inline void gather_block(std::uint32_t (&w)[4], int quarter) {
  bool const odd = quarter % 2 != 0, high = quarter >= 2;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    std::uint32_t const got = __shfl_xor_sync(0xffffffffu, odd ? w[i] : w[i + 1], 1);
    (odd ? w[i] : w[i + 1]) = got;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    std::uint32_t const got = __shfl_xor_sync(0xffffffffu, high ? w[i] : w[i + 2], 2);
    (high ? w[i] : w[i + 2]) = got;
  }
}

/// 64 rows of O from registers: the four lanes that share a row write 64 bytes of it at once.
template <class Tiling>
__device__ void store_straight(HopperParams const& p, Place<Tiling> const& place, Softmax& softmax,
                               float const (&o)[Tiling::dv / 2], HopperSchedule::Item const& item) {
  using Element = typename Tiling::Element;
  static_assert(Tiling::dv % 32 == 0);
  float inverse[2];
  softmax.close(inverse);
  int const quarter = place.lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int const query = query_of(p, item.tile) + place.row() + half * 8;
    bool const there = query >= 0 && query < p.seq_q;
    char* const to = p.out.row(item.batch, item.head, there ? query : 0);
#pragma unroll
    for (int j = 0; j < Tiling::dv / 8; j += 4) {
      std::uint32_t w[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        w[i] = pack(o[4 * (j + i) + 2 * half] * inverse[half], o[4 * (j + i) + 2 * half + 1] * inverse[half],
                    static_cast<Element*>(nullptr));
      }
      gather_block(w, quarter);
      int const column = (j + quarter) * 8;
      if (there && column < p.value_dim)
        *reinterpret_cast<uint4*>(to + column * 2) = make_uint4(w[0], w[1], w[2], w[3]);
    }
    if (there && p.lse.data != nullptr && quarter == 0)
      p.lse.element<float>(item.batch, item.head, query) = softmax.lse(half);
  }
}

/// The rows of a packed tile, straight from registers: O and its log-sum-exp where keys are not split, else
/// those of this part.
template <class Tiling>
__device__ void store_packed(HopperParams const& p, Place<Tiling> const& place, Softmax& softmax,
                             float const (&o)[Tiling::dv / 2], HopperSchedule::Item const& item) {
  using Element = typename Tiling::Element;
  float inverse[2];
  softmax.close(inverse);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int const row = place.row() + half * 8;
    int const query = query_of(p, item.tile) + row / p.group;
    if (row >= p.tile_queries * p.group || query >= p.seq_q) continue;
    int const head = item.head * p.group + row % p.group;
    int const column = place.lane % 4 * 2;
    if (p.schedule.splits == 1) {
      if (p.lse.data != nullptr && column == 0)
        p.lse.element<float>(item.batch, head, query) = softmax.lse(half);
      char* const to = p.out.row(item.batch, head, query) + column * 2;
#pragma unroll
      for (int j = 0; j < Tiling::dv / 8; ++j) {
        if (j * 8 < p.value_dim)
          *reinterpret_cast<std::uint32_t*>(to + j * 16) =
              pack(o[4 * j + 2 * half] * inverse[half], o[4 * j + 2 * half + 1] * inverse[half],
                   static_cast<Element*>(nullptr));
      }
    } else {
      std::int64_t const place_of_row =
          ((static_cast<std::int64_t>(item.split) * p.batch + item.batch) * p.heads + head) * p.seq_q + query;
      if (column == 0) p.partial_sums[place_of_row] = make_float2(softmax.reference[half], softmax.sum[half]);
      float* const to = p.partial + place_of_row * p.value_dim + column;
#pragma unroll
      for (int j = 0; j < Tiling::dv / 8; ++j) {
        if (j * 8 < p.value_dim)
          *reinterpret_cast<float2*>(to + j * 8) =
              make_float2(o[4 * j + 2 * half] * inverse[half], o[4 * j + 2 * half + 1] * inverse[half]);
      }
    }
  }
}

}  // namespace flashpad::hopper
