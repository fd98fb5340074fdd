// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/host_table.hpp"
#include "kernels/engines/portable_vector.hpp"

// What a tile of keys adds to the outputs so far. Its sum is taken apart from theirs: an error that grows
// with the keys of a tile and with the tiles, not with all keys. As portable_vector.hpp, for files that are
// compiled once per processor level.

namespace flashpad::engines {
namespace {

/// acc = acc * alpha + sum, of `dims` elements for the rows of a block.
template <int dims, class T>
FLASHPAD_INLINE void add_to_outputs(Vector<T> (&sum)[dims][vectors], Rescale rescale, T const* alpha,
                                    T* acc) {
  Vector<T> before[vectors];
  FLASHPAD_EACH(vectors) before[i] = rescale == Rescale::scale ? load(alpha + i * width<T>) : splat<T>(1);
#pragma GCC unroll 16
  for (int y = 0; y < dims; ++y) {
    T* const at = acc + y * lanes<T>;
    if (rescale != Rescale::reset) FLASHPAD_EACH(vectors) sum[y][i] += before[i] * load(at + i * width<T>);
    FLASHPAD_EACH(vectors) store(at + i * width<T>, sum[y][i]);
  }
}

}  // namespace
}  // namespace flashpad::engines
