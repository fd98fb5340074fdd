// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Micro-kernels for few query rows: vectors of the compiler, one source for every instruction set. Compiled
// once per processor level (FLASHPAD_LEVEL); includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/rows_parts.hpp"

namespace flashpad::engines {
namespace {

template <class Storage, class T>
void load_query(void const* row, int dim, int rows, int r, T* q) {
  auto const* from = static_cast<Storage const*>(row);
  for (int c = 0; c < padded<T>(dim); ++c) {
    T& to = q[(c / width<T> * rows + r) * width<T> + c % width<T>];
    to = from != nullptr && c < dim ? to_float(from[c]) : T{0};
  }
}

/// Adds the products of one vector of dimensions, from c on, of each key and query.
template <bool half_vector, class Storage, class T, int keys, int rows>
FLASHPAD_INLINE void add_products(Vector<T> (&sum)[keys][rows], Storage const* const (&key)[keys], T const* q,
                                  int c) {
  Vector<T> query[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    query[r] = load(q + c * rows + r * width<T>);
    keep_in_register(query[r]);
  }
#pragma GCC unroll 16
  for (int y = 0; y < keys; ++y) {
    Vector<T> value = load_part<half_vector>(key[y] + c);
    if (rows > 1) keep_in_register(value);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) sum[y][r] += value * query[r];
  }
}

template <class Storage, class T, int rows>
void scores(T const* q, void const* k, std::int64_t stride, int n, int dim, T scale, T* s, RowsAhead ahead) {
  constexpr int keys = sums / rows;
  int const whole = dim / width<T> * width<T>;
  for (int j = 0; j < n; j += keys) {
    Storage const* key[keys];
#pragma GCC unroll 16
    for (int y = 0; y < keys; ++y) key[y] = row_of<Storage>(k, stride, j + y < n ? j + y : n - 1);
    for (int y = 0; y < keys; ++y) prefetch(ahead, j + y, 0, ahead.bytes);
    Vector<T> sum[keys][rows] = {};
    for (int c = 0; c < whole; c += width<T>) add_products<false, Storage, T>(sum, key, q, c);
    if (whole < dim) add_products<true, Storage, T>(sum, key, q, whole);
#pragma GCC unroll 8
    for (int i = 0; i < sums; i += width<T>) {
      Vector<T> group[width<T>];
#pragma GCC unroll 16
      for (int x = 0; x < width<T>; ++x) group[x] = sum[(i + x) / rows][(i + x) % rows];
      store(s + j * rows + i, sums_of<T>(group) * scale);
    }
  }
}

/// `columns` vectors of acc, from column c on; half_vector: the last half vector of a row.
template <class Storage, class T, int rows, int columns, bool half_vector>
FLASHPAD_INLINE void accumulate_columns(T const* p, Storage const* v, std::int64_t stride, int n, int acc_row,
                                        T const* alpha, T* acc, RowsAhead const& ahead, int from, int to) {
  Vector<T> sum[rows][columns];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
    for (int x = 0; x < columns; ++x) {
      sum[r][x] = load(acc + r * acc_row + x * width<T>);
      if (alpha != nullptr) sum[r][x] *= alpha[r];
    }
  }
  for (int j = 0; j < n; ++j) {
    Storage const* row = row_of<Storage>(v, stride, j);
    prefetch(ahead, j, from, to);
#pragma GCC unroll 16
    for (int x = 0; x < columns; ++x) {
      Vector<T> const value = load_part<half_vector>(row + x * width<T>);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) sum[r][x] += value * p[j * rows + r];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
    for (int x = 0; x < columns; ++x) store(acc + r * acc_row + x * width<T>, sum[r][x]);
  }
}

template <class Storage, class T, int rows, int columns>
FLASHPAD_INLINE void accumulate_from(int c, T const* p, Storage const* v, std::int64_t stride, int n, int dim,
                                     T const* alpha, T* acc, RowsAhead const& ahead) {
  int const acc_row = padded<T>(dim);
  for (; c + columns * width<T> <= dim; c += columns * width<T>) {
    accumulate_columns<Storage, T, rows, columns, false>(p, v + c, stride, n, acc_row, alpha, acc + c, ahead,
                                                         ahead.bytes * c / dim,
                                                         ahead.bytes * (c + columns * width<T>) / dim);
  }
  if constexpr (columns > 1) {
    if (c < dim) accumulate_from<Storage, T, rows, columns / 2>(c, p, v, stride, n, dim, alpha, acc, ahead);
  } else if (c < dim) {
    accumulate_columns<Storage, T, rows, 1, true>(p, v + c, stride, n, acc_row, alpha, acc + c, ahead,
                                                  ahead.bytes * c / dim, ahead.bytes);
  }
}

template <class Storage, class T, int rows>
void accumulate(T* p, void const* v, std::int64_t stride, int n, int dim, T const* alpha, T* acc,
                RowsAhead ahead) {
  accumulate_from<Storage, T, rows, sums / rows>(0, p, static_cast<Storage const*>(v), stride, n, dim, alpha,
                                                 acc, ahead);
}

template <class Storage, class T>
void store_output(T const* acc, T sum, int dim, void* row) {
  auto* to = static_cast<Storage*>(row);
  for (int c = 0; c < dim; ++c) to[c] = from_float<Storage>(sum == 0 ? T{0} : acc[c] / sum);
}

template <class Storage, class T, int size>
void fill(RowsTable<T>& table) {
  constexpr int rows = 1 << size;
  table.scores[size] = scores<Storage, T, rows>;
  table.softmax[size] = softmax<T, rows>;
  table.accumulate[size] = accumulate<Storage, T, rows>;
  if constexpr (2 * rows <= rows_in_block<T>) fill<Storage, T, size + 1>(table);
}

template <class Storage, class T>
RowsTable<T> make_table(char const* level) {
  RowsTable<T> table;
  table.level = level;
  table.most_rows = rows_in_block<T>;
  table.key_unit = sums;
  table.dim_unit = width<T>;
  table.load_query = load_query<Storage, T>;
  table.store_output = store_output<Storage, T>;
  table.store_partial = store_output<T, T>;
  fill<Storage, T, 0>(table);
  return table;
}

#define FLASHPAD_STRING_OF(x) #x
#define FLASHPAD_STRING(x) FLASHPAD_STRING_OF(x)

}  // namespace

RowsTables FLASHPAD_ROWS_TABLES(FLASHPAD_LEVEL)() {
  char const* const level = FLASHPAD_STRING(FLASHPAD_LEVEL);
  return {make_table<double, double>(level), make_table<float, float>(level), make_table<half, float>(level),
          make_table<bfloat16, float>(level)};
}

}  // namespace flashpad::engines
