// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>

#include <cstdint>

namespace flashpad {

/// Tile shapes are data: one row for each head dimension up to `dim` (the larger of head_dim and value_dim).
/// A kernel takes the first row that fits its problem, then halves the query tile until the work fits the
/// scratch memory and fills the machine.
struct TileRow {
  std::int64_t dim;
  Tile tile;
};

/// Host engines. The key tile is what keeps one tile of K or V, a block of queries and a block of scores in a
/// first-level cache of 32 to 48 KiB; the query tile is what pays for fetching a tile of K and V (256 rows:
/// below 2 % of the time) while queries and accumulators of all rows stay in 1 MiB of second-level cache.
inline constexpr TileRow host_tiles[] = {
    {64, {256, 64}},
    {128, {256, 64}},
    {256, {128, 32}},
};

/// The SIMT engine. All its state is in team scratch, 40,936 bytes on CUDA with Kokkos up to 5.1 in float32:
/// the rows are the largest that fit there. Not tuned.
inline constexpr TileRow simt_tiles[] = {
    {32, {64, 32}},
    {64, {32, 32}},
    {128, {16, 16}},
    {256, {8, 8}},
};

template <int N>
Tile tile_for(TileRow const (&rows)[N], std::int64_t dim) {
  for (TileRow const& row : rows) {
    if (dim <= row.dim) return row.tile;
  }
  return rows[N - 1].tile;
}

}  // namespace flashpad
