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

/// Host engines. 512 rows pay for fetching a tile of K and V; 128 keys make the runs of the micro-kernels
/// long and leave one block's scores in the first-level cache. Measured on one core (Zen 5, AVX-512;
/// docs/performance.md) at d = 64 and 128, N = 512 to 2048: 256 rows lose 6 to 9 % in float32 and 5 to 9 % in
/// bf16, 256 keys up to 3 and 7 %, more under a mask.
inline constexpr TileRow host_tiles[] = {
    {256, {512, 128}},
};

/// Host engines with tile registers (AMX): longer runs of keys pay for bringing a block's sums to the
/// registers and back, more rows for fetching K and V and for V's transposition (measured on one core, N =
/// 4096, GFLOP/s with 512 x 128, 512 x 256, 1024 x 256 and 1024 x 512: 650, 670, 675, 685 at d = 64, 850,
/// 855, 930, 950 at d = 128).
inline constexpr TileRow tile_register_tiles[] = {
    {128, {1024, 512}},
    {256, {512, 128}},
};

/// Those whose operands are sums of terms: K and V are split for each query tile, so that it is long
/// (measured on one core, N = 2048, GFLOP/s with 512 x 128, 1024 x 128 and 1024 x 256: float32 270, 283, 295
/// at d = 64, 268, 290, 305 at d = 128; fp16 395, 392 at d = 64, 514 and 479 with 1024 rows at d = 128).
inline constexpr TileRow three_term_tiles[] = {
    {128, {1024, 256}},
    {256, {512, 128}},
};
inline constexpr TileRow two_term_tiles[] = {
    {128, {1024, 128}},
    {256, {512, 128}},
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
