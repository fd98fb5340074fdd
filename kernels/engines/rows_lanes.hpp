// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/rows_scores.hpp"

// Q K^T for as many query rows as a vector has lanes: each element of a key is broadcast to all rows, and no
// sum lies across lanes. As portable_vector.hpp, for files that are compiled once per processor level.

namespace flashpad::engines {
namespace {

/// Keys at a time: with a vector of queries and an element of a key they fill the 16 registers of AVX2, and
/// 13 loads at two a cycle are little more than the 12 multiply-adds take.
constexpr int lanes_keys = 12;

/// Scores of `keys` keys; 8 elements of each are multiplied a turn, as many bytes asked for ahead.
template <int keys, int bytes, class T>
FLASHPAD_INLINE void score_lanes(T const* q, char const* k, std::int64_t stride, int dim, T scale, T* s,
                                 RowsCursor& ahead) {
  constexpr int rows = width<T>;
  Vector<T> sum[keys] = {};
  for (int from = 0; from < dim; from += 8) {
    ahead.template advance<keys * 8 * bytes>();
#pragma GCC unroll 8
    for (int c = from; c < from + 8; ++c) {
      Vector<T> const query = load(q + c * rows);
      FLASHPAD_EACH(keys) sum[i] += query * reinterpret_cast<T const*>(k + i * stride)[c];
    }
  }
  FLASHPAD_EACH(keys) store(s + i * rows, sum[i] * scale);
}

/// The same for keys that may have to be widened first: to a buffer, since a broadcast comes from memory.
template <int keys, class Storage, class T>
FLASHPAD_INLINE void score_keys(T const* q, char const* k, std::int64_t stride, int dim, T scale, T* s,
                                RowsCursor& ahead) {
  constexpr int bytes = sizeof(Storage);
  if constexpr (bytes == sizeof(T)) {
    score_lanes<keys, bytes>(q, k, stride, dim, scale, s, ahead);
  } else {
    constexpr int most_dim = 256;
    alignas(64) T wide[keys * most_dim];
#pragma GCC unroll 16
    for (int y = 0; y < keys; ++y) {
      for (int c = 0; c < dim; c += width<T>)
        store(wide + y * dim + c, load_row(row_of<Storage>(k, stride, y) + c));
    }
    score_lanes<keys, bytes>(q, reinterpret_cast<char const*>(wide), dim * static_cast<int>(sizeof(T)), dim,
                             scale, s, ahead);
  }
}

template <class Storage, class T>
FLASHPAD_INLINE void scores_along_lanes(T const* q, void const* keys, std::int64_t stride, int n, int dim,
                                        T scale, T* s, RowsAhead next) {
  RowsCursor ahead(next);
  char const* const k = static_cast<char const*>(keys);
  constexpr int rows = width<T>;
  int j = 0;
  for (; j + lanes_keys <= n; j += lanes_keys)
    score_keys<lanes_keys, Storage>(q, k + j * stride, stride, dim, scale, s + j * rows, ahead);
  for (; j + 4 <= n; j += 4)
    score_keys<4, Storage>(q, k + j * stride, stride, dim, scale, s + j * rows, ahead);
  for (; j < n; ++j) score_keys<1, Storage>(q, k + j * stride, stride, dim, scale, s + j * rows, ahead);
}

}  // namespace
}  // namespace flashpad::engines
