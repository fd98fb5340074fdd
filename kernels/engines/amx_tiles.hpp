// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/portable_vector.hpp"

// The tile registers of AMX as the engines use them. As portable_vector.hpp, for files that are compiled once
// per processor level.
//
// tdpbf16ps adds to C [m][n] the products of A [m][16 pairs] and B [16 pairs][n], m and n up to 16, where a
// pair is two bf16 side by side. It takes m cycles, and 52 until its sums are there. The processor renames
// registers with every load, so that one serves all operands of a shape.

namespace flashpad::engines {
namespace {

constexpr int tile_rows = 16;
constexpr int tile_bytes = 64;            ///< of a row
constexpr int group = 32;                 ///< bf16 in a row
constexpr int block_rows = lanes<float>;  ///< query rows in a block, along the lanes

struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

FLASHPAD_INLINE void shape(TileShapes& shapes, int tile, int rows, int bytes) {
  shapes.rows[tile] = static_cast<std::uint8_t>(rows);
  shapes.row_bytes[tile] = static_cast<std::uint16_t>(bytes);
}

/// Gives the registers these shapes. They may have them already, or another library's: to look takes 20
/// cycles and to load 180.
FLASHPAD_INLINE void use_shapes(TileShapes const& wanted) {
  TileShapes now;
  _tile_storeconfig(&now);
  if (_mm512_cmpneq_epu8_mask(_mm512_load_si512(&now), _mm512_load_si512(&wanted)) != 0)
    _tile_loadconfig(&wanted);
}

}  // namespace
}  // namespace flashpad::engines
