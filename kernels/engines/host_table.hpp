// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace flashpad::engines {

/// What one instruction set offers a host engine: micro-kernels on one block of `lanes` query rows and one
/// tile of keys, called through pointers so that the tile walk is compiled once, for any processor.
///
/// T is the type of arithmetic, float or double. All blocks are "transposed": query rows lie along the vector
/// lanes. Then neither K nor V needs packing into panels (an element of either is broadcast to all rows), the
/// running maximum and sum need no sum across lanes, and a rescale is one product of vectors.
///
///     q     [head_dim][lanes]       k  [keys][head_dim]    s, p  [keys][lanes]
///     acc   [value_dim][lanes]      v  [keys][value_dim]   max, sum  [lanes]
///
/// Blocks are 64-byte aligned. Storage is the element type in memory; the functions that touch it are chosen
/// with it.
template <class T>
struct HostTable {
  char const* level = nullptr;  ///< name of the instruction set; null where this table is not compiled
  int lanes = 0;                ///< query rows in a block
  int key_unit = 1;  ///< `scores` rounds n up to a multiple of this: k and s have room, what is there is void

  /// Q rows [0, rows), `stride` bytes apart, to q; rows up to `lanes` become zero.
  void (*load_queries)(void const* storage, std::int64_t stride, int rows, int dim, T* q) = nullptr;

  /// n rows of K or V, `stride` bytes apart, to T, contiguous.
  void (*load_keys)(void const* storage, std::int64_t stride, int n, int dim, T* out) = nullptr;

  /// s[j][r] = scale * sum_c k[j][c] * q[c][r] for n keys.
  void (*scores)(T const* q, T const* k, int n, int dim, T scale, T* s) = nullptr;

  /// Takes n keys' scores into the running maximum and sum: s becomes p = exp(s - max), sum = sum * alpha +
  /// sum_j p, with alpha = exp(old max - new max). Returns whether any alpha differs from one: then the
  /// accumulator must be scaled by it. A row whose scores are all -infinity so far keeps max = -infinity.
  bool (*softmax)(T* s, int n, T* max, T* sum, T* alpha) = nullptr;

  /// acc[c][r] *= alpha[r].
  void (*rescale)(T const* alpha, int dim, T* acc) = nullptr;

  /// acc[c][r] += sum_j v[j][c] * p[j][r] over n keys.
  void (*accumulate)(T const* p, T const* v, int n, int dim, T* acc) = nullptr;

  /// Softmax of n scores that lie side by side, in place: s = exp(s - max) / sum. -infinity and 0 for a row
  /// of no keys, or of -infinity alone, whose s becomes 0. The naive kernel's; a row needs no alignment.
  void (*softmax_row)(T* s, std::int64_t n, T* max, T* sum) = nullptr;

  /// O rows [0, rows) = acc / sum, or 0 where sum is 0, in the storage type, `stride` bytes apart.
  void (*store_output)(T const* acc, T const* sum, int rows, int dim, void* storage,
                       std::int64_t stride) = nullptr;
};

}  // namespace flashpad::engines
