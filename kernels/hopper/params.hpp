// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include "kernels/operand.hpp"

#include <cuda.h>
#include <cstdint>

// What the kernel knows of one call. Sizes are 32-bit here: registers are short, and hopper_refusal sees to
// it that no sum below overflows.

namespace flashpad::hopper {

/// How work goes to blocks. An item is a tile of query rows of one head, and where keys are split, one part
/// of its keys.
struct HopperSchedule {
  int heads = 1;      ///< of one batch: query heads, or key heads where tiles are packed
  int all_heads = 1;  ///< batch * heads
  int query_tiles = 1;
  int splits = 1;   ///< parts of a walk over keys
  int section = 1;  ///< heads that are worked on together
  int tail = 0;     ///< heads of the last section, which may have more
  bool last_tile_first = false;

  struct Item {
    int batch, head, tile, split;
  };

  FLASHPAD_FUNCTION int size() const { return all_heads * query_tiles * splits; }

  /// Work comes in sections of as many heads as have their K and V in the second-level cache together. Inside
  /// a section, query tiles come heaviest first; the last one has enough of them for the blocks to end
  /// together.
  FLASHPAD_FUNCTION Item item(int index) const {
    int const parts = query_tiles * splits;
    int const early = all_heads - tail;
    bool const last = index >= early * parts;
    int const first = last ? early : index / (section * parts) * section;
    int const rest = index - first * parts;
    int const here = last ? tail : early - first < section ? early - first : section;
    int const part = rest / here;
    int const head = first + rest % here;
    int const tile = part / splits;
    return {head / heads, head % heads, last_tile_first ? query_tiles - 1 - tile : tile, part % splits};
  }
};

/// BandVariant (problem/walk.hpp) in 32 bits: row r sees the keys [begin(r), end(r)).
struct HopperBand {
  int seq_k = 0;
  int offset = 0;             ///< seq_k - seq_q
  int left = -1, right = -1;  ///< -1: no limit

  FLASHPAD_FUNCTION int begin(int row) const { return left < 0 ? 0 : inside(row + offset - left); }
  FLASHPAD_FUNCTION int end(int row) const { return right < 0 ? seq_k : inside(row + offset + right + 1); }

 private:
  FLASHPAD_FUNCTION int inside(int key) const { return key < 0 ? 0 : key > seq_k ? seq_k : key; }
};

/// A __grid_constant__ parameter, as tensor maps must be.
struct HopperParams {
  CUtensorMap q, k, v, o;
  HopperSchedule schedule;
  HopperBand band;
  int seq_q = 0;
  int group = 1;             ///< query heads a key/value head
  int tile_queries = 64;     ///< query positions of a tile: its rows, or rows / group where tiles are packed
  int first_query = 0;       ///< of tile 0: zero, or negative by whole warpgroups (launch.hpp)
  unsigned q_box_bytes = 0;  ///< of one box of Q
  float scale_log2 = 0;      ///< |scale| * log2(e); 1 where that is 0
  float sign = 1;            ///< of the scale: the scores are multiplied by it
  int* next_item = nullptr;  ///< two counters, zero before and after each launch
  Operand lse;               ///< data is null where not wanted
  Operand out;               ///< O once more, for what does not go through the copy engine
  int value_dim = 0;
  // Where tiles are packed:
  int heads = 1, batch = 1;
  float* partial = nullptr;  ///< (split, b, h, n, value_dim) where keys are split
  /// (split, b, h, n): what a part's probabilities are relative to, in powers of two, and their sum. Not one
  /// number: in a log-sum-exp of 10^6 the sum has two digits left.
  float2* partial_sums = nullptr;
};

/// The keys that an item visits, as tiles of Keys keys: tile t begins at key first + t * Keys. Tiles start at
/// the first key that any row of the block sees, so that keys hidden from every row are never multiplied.
/// Rows that see no key visit one tile past the last key: it arrives as zeros.
struct HopperWalk {
  int first = 0;
  int begin = 0, end = 0;  ///< the tiles of this item, at least one
};

/// What the producer tells the consumers of a work item, through shared memory: nobody divides twice.
struct HopperOrder {
  HopperSchedule::Item item;  ///< batch < 0: no more work
  HopperWalk walk;
};

/// First query position of a tile.
FLASHPAD_FUNCTION int query_of(HopperParams const& p, int tile) {
  return p.first_query + tile * p.tile_queries;
}

template <int Keys>
FLASHPAD_FUNCTION HopperWalk walk_of(HopperParams const& p, HopperSchedule::Item const& item) {
  int const row = query_of(p, item.tile);
  int const row_end = row + p.tile_queries < p.seq_q ? row + p.tile_queries : p.seq_q;
  int const begin = p.band.begin(row < 0 ? 0 : row);
  int const end = p.band.end(row_end - 1);
  // A tensor map has at least one row.
  HopperWalk const nothing = {p.band.seq_k > 0 ? p.band.seq_k : 1, 0, 1};
  if (end <= begin) return nothing;
  int const tiles = (end - begin + Keys - 1) / Keys;
  if (p.schedule.splits == 1) return {begin, 0, tiles};
  // In 64 bits: tiles times splits.
  std::int64_t const product = static_cast<std::int64_t>(tiles) * item.split;
  int const from = static_cast<int>(product / p.schedule.splits);
  int const to = static_cast<int>((product + tiles) / p.schedule.splits);
  return from < to ? HopperWalk{begin, from, to} : nothing;
}

}  // namespace flashpad::hopper
