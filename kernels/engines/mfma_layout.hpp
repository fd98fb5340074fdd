// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include <cstdint>

namespace flashpad::engines {

/// Where a tile of K and of V lies in a team's scratch memory, for 16-bit elements and tiles of `Keys` keys
/// of up to `Dim` elements. Chunks are 16 bytes: 8 elements.
///
/// K lies as it comes, a row a key. V lies transposed, a row a column of V, because a lane multiplies 4
/// neighbouring keys of one column; and within 16 keys in the order 0-3, 8-11, 4-7, 12-15, because a lane of
/// the product's result holds keys 4h to 4h + 3 of every 8 (mfma_wave.hpp), so that one chunk holds what a
/// lane needs for two products.
///
/// A local data share has 32 banks of 4 bytes, and serves 128 bytes at a time. Rows are padded by 16 bytes,
/// so that the 8 rows that are read at a time lie in different banks; chunks of V's rows are exchanged by two
/// bits of the row, so that this holds too for rows 4 apart, which are written at a time (tests/mfma counts
/// it).
template <int Dim, int Keys>
struct MfmaLayout {
  static_assert(Dim % 32 == 0 && Keys % 32 == 0);
  static constexpr int key_pitch = Dim * 2 + 16;
  static constexpr int value_pitch = Keys * 2 + 16;
  static constexpr int key_bytes = Keys * key_pitch;
  static constexpr int bytes = key_bytes + Dim * value_pitch;
  static constexpr int key_units = Keys * Dim / 8;     ///< chunks of K, one a thread and pass
  static constexpr int value_units = Keys * Dim / 16;  ///< blocks of 4 keys and 4 columns of V, likewise

  /// Byte offset of a chunk of K.
  FLASHPAD_FUNCTION static constexpr std::uint32_t key_at(int key, int chunk) {
    return static_cast<std::uint32_t>(key * key_pitch + chunk * 16);
  }
  /// Byte offset of a chunk of a column of V; its halves hold keys value_key(chunk, 0) on and (chunk, 1) on.
  FLASHPAD_FUNCTION static constexpr std::uint32_t value_at(int column, int chunk) {
    return static_cast<std::uint32_t>(key_bytes + column * value_pitch + (chunk ^ (column >> 3 & 3)) * 16);
  }
  FLASHPAD_FUNCTION static constexpr int value_key(int chunk, int half) {
    return (chunk >> 1) * 16 + half * 8 + (chunk & 1) * 4;
  }

  struct KeyUnit {
    int key;
    int chunk;
  };
  /// Eight neighbouring threads bring four chunks of two rows that are 4 apart: 32 different banks.
  FLASHPAD_FUNCTION static constexpr KeyUnit key_unit(int index) {
    constexpr int quads = Dim / 32;
    int const pair = index >> 3;
    int const row = pair / quads;
    return {(row >> 2) * 8 + (index >> 2 & 1) * 4 + (row & 3), pair % quads * 4 + (index & 3)};
  }

  struct ValueUnit {
    int chunk;
    int half;
    int column;  ///< the first of 4
  };
  /// Sixteen neighbouring threads bring both halves of one chunk for 8 groups of columns.
  FLASHPAD_FUNCTION static constexpr ValueUnit value_unit(int index) {
    constexpr int groups = Dim / 4;
    int const rest = index >> 1;
    return {rest / groups, index & 1, rest % groups * 4};
  }
};

}  // namespace flashpad::engines
