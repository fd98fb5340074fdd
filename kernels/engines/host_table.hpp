// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace flashpad::engines {

/// What a softmax asks of the accumulator before the next product is added to it.
enum class Rescale {
  none,   ///< no row's maximum has moved
  scale,  ///< multiply by alpha
  reset   ///< no row had seen a key: it is 0, whatever its memory holds
};

/// acc[c][r] = acc[c][r] * alpha[r] + sum_j v[j][c] * p[j][r] over n keys, whose groups are `stride` bytes
/// apart; without alpha, or without acc, as `rescale` says.
template <class T>
struct HostProduct {
  void const* p = nullptr;
  void const* v = nullptr;
  std::int64_t stride = 0;
  int n = 0;  ///< 0: nothing to do
  int dim = 0;
  Rescale rescale = Rescale::none;
  T const* alpha = nullptr;
  T* acc = nullptr;
};

/// What one instruction set offers a host engine: micro-kernels on one block of `lanes` query rows and one
/// tile of keys, called through pointers so that the tile walk is compiled once, for any processor.
///
/// T is the type of arithmetic, float or double: of scores, statistics and accumulators. The operands of the
/// products (q, k, v, p) have `operand_bytes` an element: they are T, or 16-bit types where the instruction
/// set multiplies those; then it sums pairs of them (a pair is one element else), and takes V in groups of
/// `group` keys. All blocks are "transposed": query rows lie along the vector lanes. Then no product needs
/// panels (an element of K or V is broadcast to all rows), the running maximum and sum need no sum across
/// lanes, and a rescale is one product of vectors.
///
///     q     [head_dim / pair][lanes][pair]         k  [keys][head_dim]
///     p     [keys / pair][lanes][pair]             v  [keys / group][value_dim][group]
///     s     [keys][lanes]    acc  [value_dim][lanes]    max, sum, tile_max  [lanes]
///
/// Blocks are 64-byte aligned; head_dim and value_dim are multiples of 8. Storage is the element type in
/// memory; the functions that touch it are chosen with it. K and V are read at a stride, so that rows that
/// already are operands can stay where they are.
template <class T>
struct HostTable {
  char const* engine = nullptr;  ///< its name; null where this table is not compiled
  int lanes = 0;                 ///< query rows in a block
  int group = 1;     ///< keys that lie side by side in v; v, s and p have room for whole groups, and a
                     ///< run of keys begins with one
  double slack = 0;  ///< what scores times scale may exceed the running maximum by without moving it, where
                     ///< a rescale is a pass of its own and nobody asks for the maximum
  bool asks_ahead = true;  ///< for the next tile of K and V, while this one is multiplied
  int least_rows = 1;      ///< of a query tile: with fewer another engine is faster
  int operand_bytes = sizeof(T);
  int score_bytes = sizeof(T);  ///< room of a score: more where P, which takes its place, is longer
  int storage_bytes = sizeof(T);
  bool keys_are_operands = false;    ///< storage has the form of k: load_keys is not needed
  bool values_are_operands = false;  ///< storage has the form of v: load_values is not needed

  /// Whether the functions below may be given these n rows of Q, K or V, `stride` bytes apart; null where
  /// they take any. Another table with as many lanes takes what this one does not.
  bool (*takes)(void const* storage, std::int64_t stride, int n, int dim) = nullptr;

  /// Q rows [0, rows) times `factor` (1, -1 or 0), `stride` bytes apart, to q; rows up to `lanes` become
  /// zero.
  void (*load_queries)(void const* storage, std::int64_t stride, int rows, int dim, T factor,
                       void* q) = nullptr;

  /// n rows of K, `stride` bytes apart, to k, contiguous; the same for V.
  void (*load_keys)(void const* storage, std::int64_t stride, int n, int dim, void* k) = nullptr;
  void (*load_values)(void const* storage, std::int64_t stride, int n, int dim, void* v) = nullptr;

  /// s[j][r] = sum_c k[j][c] * q[c][r] for n keys whose rows are `stride` bytes apart, and tile_max[r] =
  /// max_j s[j][r].
  void (*scores)(void const* q, void const* k, std::int64_t stride, int n, int dim, T* s,
                 T* tile_max) = nullptr;

  /// s[j][r] = -infinity unless low <= j - r <= high, and tile_max anew.
  void (*mask)(T* s, int n, int low, int high, T* tile_max) = nullptr;

  /// Takes n keys' scores, times `scale` > 0, into the running maximum (of the scores without scale) and sum:
  /// s becomes p = exp(scale * (s - max)), sum = sum * alpha + sum_j p, with alpha = exp(scale * (old max -
  /// new max)). A row whose scores are all -infinity so far keeps max = -infinity. p takes the place of s.
  Rescale (*softmax)(T* s, int n, T scale, T const* tile_max, T* max, T* sum, T* alpha) = nullptr;

  /// The same, and another block's product meanwhile: where other units multiply than the softmax needs.
  /// Null: there is nothing to gain.
  Rescale (*softmax_meanwhile)(T* s, int n, T scale, T const* tile_max, T* max, T* sum, T* alpha,
                               HostProduct<T> const& product) = nullptr;

  /// A HostProduct, part by part.
  void (*accumulate)(void const* p, void const* v, std::int64_t stride, int n, int dim, Rescale rescale,
                     T const* alpha, T* acc) = nullptr;

  /// Softmax of n scores that lie side by side, in place: s = exp(s - max) / sum. -infinity and 0 for a row
  /// of no keys, or of -infinity alone, whose s becomes 0. The naive kernel's; a row needs no alignment.
  void (*softmax_row)(T* s, std::int64_t n, T* max, T* sum) = nullptr;

  /// O rows [0, rows) = acc / sum, or 0 where sum is 0, in the storage type, `stride` bytes apart.
  void (*store_output)(T const* acc, T const* sum, int rows, int dim, void* storage,
                       std::int64_t stride) = nullptr;
};

}  // namespace flashpad::engines
