// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace flashpad::engines {

/// Rows that will be read next: prefetched, never read.
struct RowsAhead {
  char const* rows = nullptr;
  std::int64_t stride = 0;
  std::int64_t bytes = 0;  ///< of one row; 0 for none
  std::int64_t far = 0;    ///< what lies so far behind them may be asked for as well
};

/// What one instruction set offers for few query rows (a decode step): micro-kernels on one block of 1, 2, 4,
/// ... most_rows rows and one tile of keys, read where the caller has them. With so few rows every element of
/// K and V is used a few times only: it is not worth packing, and memory sets the pace.
///
/// The dimension lies along the vector lanes, or along groups of them. Rows of a block lie side by side in
/// the scores, so that one vector of them holds several keys of all rows:
///
///     q  an engine's own    k  head_dim elements at k + key * stride
///     s  [keys][rows]       v  value_dim elements at v + key * stride
///     acc  [rows][padded value_dim], in an order of the engine's own
///
/// Both products also prefetch the rows of their own matrix that come next, as fast as they go themselves: a
/// core has too few misses in flight to keep memory busy otherwise.
///
/// T is the type of arithmetic. q, s and acc are 64-byte aligned; k and v need the alignment of their type.
/// Functions come by the block's size: [i] is for 2^i rows.
template <class T>
struct RowsTable {
  static constexpr int sizes = 4;

  char const* engine = nullptr;  ///< its name; null where this table is not compiled
  int most_rows = 0;
  int least_rows = 1;  ///< of a team: with fewer the next engine is faster
  int key_unit = 1;    ///< s has room for this many keys more than a tile has
  int dim_unit = 1;    ///< rows of q and acc are padded to a multiple of this many elements
  /// How far ahead of what is multiplied a matrix's rows are asked for, by blocks of so many rows and more: 0
  /// is a whole tile. What is far_bytes further on may be asked for as well.
  int least_ahead = 3;
  int lead_bytes = 0;
  int far_bytes = 8192;
  /// Keys that K is read for before it is V's turn, with one or two rows and with more; 0 is the planner's.
  int few_rows_tile = 0;
  int more_rows_tile = 0;

  /// Row r of Q into its block, padded with zeros; null fills it with zeros.
  void (*load_query[sizes])(void const* row, int dim, int r, T* q) = {};

  /// s[j][r] = scale * sum_c q[r][c] * k[j][c] for n keys.
  void (*scores[sizes])(T const* q, void const* k, std::int64_t stride, int n, int dim, T scale, T* s,
                        RowsAhead ahead) = {};

  /// Takes n keys' scores into the running maximum and sum, as HostTable::softmax does: s becomes p; returns
  /// whether any alpha differs from one.
  bool (*softmax[sizes])(T* s, int n, T* max, T* sum, T* alpha) = {};

  /// acc[r][c] = acc[r][c] * alpha[r] + sum_j p[j][r] * v[j][c] over n keys; a null alpha is 1. p is
  /// used up.
  void (*accumulate[sizes])(T* p, void const* v, std::int64_t stride, int n, int dim, T const* alpha, T* acc,
                            RowsAhead ahead) = {};

  /// One row of O = acc / sum, or 0 where sum is 0 (a row that sees no key; a NaN stays), in the storage
  /// type; and in T.
  void (*store_output)(T const* acc, T sum, int dim, void* row) = nullptr;
  void (*store_partial)(T const* acc, T sum, int dim, void* row) = nullptr;
};

/// The tables of one engine, one for each storage type; `engine` is null for a type that it does not
/// multiply.
struct RowsTables {
  RowsTable<double> fp64;
  RowsTable<float> fp32;
  RowsTable<float> fp16;
  RowsTable<float> bf16;
};

// One function for each level that rows.cpp is compiled for, and one for each file of another instruction.
#define FLASHPAD_ROWS_TABLES_OF(level) rows_tables_##level
#define FLASHPAD_ROWS_TABLES(level) FLASHPAD_ROWS_TABLES_OF(level)

RowsTables rows_tables_baseline();
RowsTables rows_tables_v3();
RowsTables rows_tables_v4();
RowsTables rows_tables_avx512_bf16();
RowsTables rows_tables_amx_bf16();

}  // namespace flashpad::engines
