// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/tiling.hpp"

// Tile shapes are data: measured on an H200, reasons in docs/hopper.md.

namespace flashpad::hopper {

inline constexpr Manner takes_turns = {.packed = false, .turns = true};
inline constexpr Manner rotating = {.packed = false, .turns = false, .rotates = true};
inline constexpr Manner straight = {
    .packed = false, .turns = true, .rotates = false, .blocks = 1, .straight = true};
inline constexpr Manner packs_heads = {.packed = true, .turns = true};
inline constexpr Manner packs_in_pairs = {.packed = true, .turns = true, .rotates = false, .blocks = 2};

// Four warpgroups of 64 rows by 64 keys: at d = 64 the exponentials take as long as the products, and the
// more warpgroups, the more of both runs at once. Under a mask they drift apart anyhow, and rotate.
template <class T>
using Tiling64 = Tiling<T, 64, 64, 4, 64, 6, 2, takes_turns>;
template <class T>
using Tiling64Masked = Tiling<T, 64, 64, 4, 64, 6, 2, rotating>;
// Long rows without one, at the card's power limit: fewer reads of Q.
template <class T>
using Tiling64Long = Tiling<T, 64, 64, 3, 128, 5, 2, takes_turns>;
template <class T>
using Tiling96 = Tiling<T, 96, 96, 3, 96, 3, 1, takes_turns>;
template <class T>
using Tiling128 = Tiling<T, 128, 128, 3, 64, 4, 2, takes_turns>;
// Longer key tiles, and Q waits for O: for long rows.
template <class T>
using Tiling128Long = Tiling<T, 128, 128, 3, 80, 3, 1, takes_turns>;
template <class T>
using Tiling128LongMasked = Tiling<T, 128, 128, 3, 80, 3, 1, rotating>;
template <class T>
using Tiling192x128 = Tiling<T, 192, 128, 2, 128, 2, 1, takes_turns>;
template <class T>
using Tiling192x128Masked = Tiling<T, 192, 128, 3, 64, 3, 1, takes_turns>;
// Two stages of Q; longer tiles of keys for long rows under a mask.
template <class T>
using Tiling192 = Tiling<T, 192, 192, 2, 80, 2, 2, takes_turns>;
template <class T>
using Tiling192LongMasked = Tiling<T, 192, 192, 2, 96, 2, 1, straight>;
template <class T>
using Tiling256 = Tiling<T, 256, 256, 2, 64, 2, 1, straight>;
template <class T>
using Tiling256Long = Tiling<T, 256, 256, 2, 80, 2, 1, straight>;

// Decoding: a tile holds the query heads of one key head.
// With 96 KB under way on a multiprocessor: with twice as much, requests queue up, and who comes last waits
// longest.
template <class T, int Warpgroups>
using Packed64 = Tiling<T, 64, 64, Warpgroups, 128, 3, 1, packs_heads>;
template <class T, int Warpgroups>
using Packed128 = Tiling<T, 128, 128, Warpgroups, 64, 3, Warpgroups, packs_heads>;
// Where there are more items than multiprocessors: two blocks with 64 KB each under way all advance alike.
template <class T>
using Packed64Pair = Tiling<T, 64, 64, 1, 128, 2, 1, packs_in_pairs>;
template <class T>
using Packed128Pair = Tiling<T, 128, 128, 1, 64, 2, 1, packs_in_pairs>;
template <class T, int Warpgroups>
using Packed256 = Tiling<T, 256, 256, Warpgroups, 64, Warpgroups == 1 ? 3 : 2, 1, packs_heads>;

}  // namespace flashpad::hopper
