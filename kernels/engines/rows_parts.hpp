// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/portable_exp.hpp"
#include "kernels/engines/rows_table.hpp"
#include "kernels/engines/rows_vector.hpp"

// What the engines for few query rows share. As portable_vector.hpp, for files that are compiled once per
// processor level.

namespace flashpad::engines {
namespace {

// Sums that the products keep in registers: enough to hide the latency of the multiply-add, and whole vectors
// of them to sum across lanes.
#if defined(__AVX512F__)
constexpr int sums = 16;
constexpr int most_rows = 8;
#else
constexpr int sums = 8;
constexpr int most_rows = 4;
#endif

template <class T>
constexpr int rows_in_block = width<T> < most_rows ? width<T> : most_rows;

template <class T>
FLASHPAD_INLINE int padded(int dim) {
  return (dim + width<T> - 1) / width<T> * width<T>;
}

template <class Storage>
FLASHPAD_INLINE Storage const* row_of(void const* storage, std::int64_t stride, int row) {
  return reinterpret_cast<Storage const*>(static_cast<char const*>(storage) + row * stride);
}

FLASHPAD_INLINE void prefetch(RowsAhead const& ahead, int row, int from, int to) {
  char const* const at = ahead.rows + row * ahead.stride;
  for (int byte = from; byte < to; byte += 64) __builtin_prefetch(at + byte);
}

/// exp(s - reference) of `count` vectors, in place, added to total.
template <int count, class T>
FLASHPAD_INLINE void exponentials(T* s, Vector<T> reference, Vector<T>& total) {
  Vector<T> p[count];
  FLASHPAD_EACH(count) p[i] = load(s + i * width<T>) - reference;
  exp_nonpositive(p, T{1});
  FLASHPAD_EACH(count) store(s + i * width<T>, p[i]);
  FLASHPAD_EACH(count) total += p[i];
}

template <class T, int rows>
bool softmax(T* s, int n, T* max, T* sum, T* alpha) {
  constexpr int step = width<T>;
  int const count = n * rows;
  int const end = (count + step - 1) / step * step;
  for (int i = count; i < end; ++i) s[i] = -infinity<T>;
  Vector<T> most = splat<T>(-infinity<T>);
  for (int i = 0; i < end; i += step) most = maximum<T>(most, load(s + i));

  // Lane i belongs to row i % rows.
  bool moved = false;
  Vector<T> reference = {};
  Vector<T> factor[1] = {};
  for (int r = 0; r < rows; ++r) {
    T row_max = max[r];
    for (int i = r; i < step; i += rows) row_max = most[i] > row_max ? most[i] : row_max;
    moved = moved || row_max != max[r];
    factor[0][r] = max[r];
    max[r] = row_max;
    // -infinity - -infinity would be NaN: a row that has seen no key yet takes 0 as its reference instead.
    for (int i = r; i < step; i += rows) reference[i] = row_max == -infinity<T> ? T{0} : row_max;
  }
  Vector<T> total = {};
  int i = 0;
  for (; i + 4 * step <= end; i += 4 * step) exponentials<4>(s + i, reference, total);
  for (; i < end; i += step) exponentials<1>(s + i, reference, total);
  factor[0] -= reference;
  exp_nonpositive(factor, T{1});
  for (int r = 0; r < rows; ++r) {
    alpha[r] = factor[0][r];
    T row_sum = sum[r] * factor[0][r];
    for (int lane = r; lane < step; lane += rows) row_sum += total[lane];
    sum[r] = row_sum;
  }
  return moved;
}

}  // namespace
}  // namespace flashpad::engines
