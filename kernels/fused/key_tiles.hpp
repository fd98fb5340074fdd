// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem/walk.hpp"

namespace flashpad {

/// The key tiles of one team, ready for a loop: where their rows of K and V are, and how many. Tile numbers
/// are 32-bit, and what a tile needs is a product away: 64-bit arithmetic is long on a GPU.
struct alignas(16) KeyTiles {
  // What a GPU's loop wants of each tile, in two units of 16 bytes.
  char const* k = nullptr;  ///< the first row of tile 0
  char const* v = nullptr;  ///< likewise; not read where only statistics are wanted
  int tile_keys = 1;
  int whole = 0;  ///< tiles [0, whole) have tile_keys keys,
  int rest = 0;   ///< and the one after them has these
  int end = 0;    ///< one past this team's last tile
  std::int64_t k_stride = 0;
  std::int64_t v_stride = 0;
  std::int64_t first_key = 0;

  /// `k` and `v` point to row 0 of the head.
  FLASHPAD_FUNCTION static KeyTiles make(TileWalk const& walk, char const* k, std::int64_t k_stride,
                                         char const* v, std::int64_t v_stride, int end) {
    std::int64_t const keys = walk.last_key - walk.first_key;
    int const whole = static_cast<int>(quotient(keys, walk.key_tile));
    return {k + walk.first_key * k_stride,
            v + walk.first_key * v_stride,
            static_cast<int>(walk.key_tile),
            whole,
            static_cast<int>(keys - whole * walk.key_tile),
            end,
            k_stride,
            v_stride,
            walk.first_key};
  }

  FLASHPAD_FUNCTION int count(int tile) const { return tile < whole ? tile_keys : rest; }
  FLASHPAD_FUNCTION std::int64_t first(int tile) const { return first_key + from_first(tile); }
  FLASHPAD_FUNCTION char const* k_rows(int tile) const { return k + from_first(tile) * k_stride; }
  FLASHPAD_FUNCTION char const* v_rows(int tile) const { return v + from_first(tile) * v_stride; }

 private:
  FLASHPAD_FUNCTION std::int64_t from_first(int tile) const {
    return static_cast<std::int64_t>(tile) * tile_keys;
  }
};

}  // namespace flashpad
