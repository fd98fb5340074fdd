// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/params.hpp"

#include <cstdint>

namespace flashpad::hopper {

/// How one instantiation works, apart from its shape.
struct Manner {
  bool packed;           ///< the query heads of one key head share a tile, and keys may be split: decoding
  bool turns;            ///< warpgroups take turns at the tensor cores
  bool rotates = false;  ///< warpgroups take a tile's rows in turn
  int blocks = 1;        ///< that share a multiprocessor
  /// O goes from registers to memory and not through Q's shared memory, so that the next item's Q can be on
  /// its way while the last values are multiplied: where there is room for one stage of Q.
  bool straight = false;
};

/// Shape of one instantiation. D and Dv are the head dimensions it multiplies, whole steps of 16 and 32; what
/// lies beyond the true dimension arrives as zeros and is not written. A warpgroup takes 64 query rows.
template <class T, int D, int Dv, int Warpgroups, int Keys, int Stages, int QStages, Manner M>
struct Tiling {
  static_assert(Dv <= D, "O leaves through the shared memory of Q");
  using Element = T;
  static constexpr int d = D;
  static constexpr int dv = Dv;
  static constexpr int warpgroups = Warpgroups;  // consumers; one more produces
  static constexpr int rows = 64 * Warpgroups;
  static constexpr int keys = Keys;
  static constexpr int stages = Stages;
  static constexpr int q_stages = QStages;
  static constexpr Manner manner = M;
  static constexpr int threads = 128 * (Warpgroups + 1);
  static constexpr int blocks = M.blocks;
  /// That give back a stage of Q: every warp where it is done with the scores, or one thread of each
  /// warpgroup when O has left.
  static constexpr int q_arrivals = (M.straight ? 4 : 1) * Warpgroups;
  // Of what a block of so many threads gets of the 65,536 registers, in the multiples of 8 that setmaxnreg
  // takes. One block of one consumer has enough without.
  static constexpr bool moves_registers = Warpgroups > 1 || blocks > 1;
  static constexpr int producer_registers = Warpgroups <= 2 ? (blocks > 2 ? 24 : 40) : 32;
  static constexpr int consumer_registers = Warpgroups == 1   ? (blocks > 2 ? 136 : 216)
                                            : Warpgroups == 2 ? 232
                                            : Warpgroups == 3 ? 160
                                                              : 112;

  static constexpr int row_bytes = 128;  // 64 elements: the width of the swizzle
  static constexpr int d_blocks = (D + 63) / 64;
  static constexpr int dv_blocks = (Dv + 63) / 64;
  static constexpr int work_slots = Warpgroups == 4 ? 4 : 3;
  static constexpr int q_bytes = rows * d_blocks * row_bytes;
  static constexpr int k_bytes = keys * d_blocks * row_bytes;
  static constexpr int v_bytes = keys * dv_blocks * row_bytes;
  static constexpr int barrier_bytes = 512;
  static constexpr int shared_bytes =
      1024 + q_stages * q_bytes + stages * (k_bytes + v_bytes) + barrier_bytes;
  static_assert(blocks * (shared_bytes + 1024) <= 228 * 1024, "more shared memory than there is");
};

/// The parts of a block's shared memory, each aligned to the swizzle's 1024 bytes. O has none of its own: it
/// goes straight to memory, or each warpgroup writes it over its rows of Q.
template <class Tiling>
struct Shared {
  unsigned char *q, *k, *v;
  std::uint64_t *q_full, *q_empty, *k_full, *k_empty, *v_full, *v_empty, *work_full, *work_empty;
  HopperOrder* work;  // of each slot

  __device__ explicit Shared(unsigned char* memory) {
    auto const address = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
    q = memory + ((address + 1023) / 1024 * 1024 - address);
    k = q + Tiling::q_stages * Tiling::q_bytes;
    v = k + Tiling::stages * Tiling::k_bytes;
    q_full = reinterpret_cast<std::uint64_t*>(v + Tiling::stages * Tiling::v_bytes);
    q_empty = q_full + Tiling::q_stages;
    k_full = q_empty + Tiling::q_stages;
    k_empty = k_full + Tiling::stages;
    v_full = k_empty + Tiling::stages;
    v_empty = v_full + Tiling::stages;
    work_full = v_empty + Tiling::stages;
    work_empty = work_full + Tiling::work_slots;
    work = reinterpret_cast<HopperOrder*>(work_empty + Tiling::work_slots);
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

}  // namespace flashpad::hopper
