// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include "kernels/operand.hpp"
#include "problem/walk.hpp"

#include <cuda.h>
#include <cstdint>

namespace flashpad::hopper {

/// How query tiles go to blocks. Counts are 32-bit here: registers are short, and hopper_refusal sees to it.
struct HopperSchedule {
  int heads = 1;      ///< of one batch
  int all_heads = 1;  ///< batch * heads
  int query_tiles = 1;
  int section = 1;  ///< heads that are worked on together
  bool last_tile_first = false;

  struct Item {
    int batch, head, tile;
  };

  FLASHPAD_FUNCTION int size() const { return all_heads * query_tiles; }

  /// Work comes in sections of as many heads as have their K and V in the second-level cache together. Inside
  /// a section, query tiles come heaviest first, so that the blocks end together.
  FLASHPAD_FUNCTION Item item(int index) const {
    int const first = index / (section * query_tiles) * section;
    int const rest = index - first * query_tiles;
    int const here = all_heads - first < section ? all_heads - first : section;
    int const tile = rest / here;
    int const head = first + rest % here;
    return {head / heads, head % heads, last_tile_first ? query_tiles - 1 - tile : tile};
  }
};

/// All that the kernel knows of one call; a __grid_constant__ parameter, as tensor maps must be.
struct HopperParams {
  CUtensorMap q, k, v, o;
  HopperSchedule schedule;
  BandVariant variant;
  int seq_q = 0, seq_k = 0;
  int offset = 0;             ///< seq_k - seq_q
  int left = -1, right = -1;  ///< of the variant, once more, in 32 bits
  int group = 1;              ///< query heads a key/value head
  float scale_log2 = 0;       ///< |scale| * log2(e); 1 where the scale is 0
  float sign = 1;             ///< of the scale: the scores are multiplied by it
  int* next_item = nullptr;   ///< two counters, zero before and after each launch
  Operand lse;                ///< data is null where not wanted
};

}  // namespace flashpad::hopper
