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
#else
constexpr int sums = 8;
#endif
constexpr int most_rows = vector_bytes < 32 ? 4 : 8;

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

/// Whether blocks of so many rows multiply several keys at a time, a vector of each by turns. Fewer rows are
/// held up by memory, not by their arithmetic, and read K and V as they lie.
template <int rows>
constexpr bool several_keys = rows > 2;

/// Goes through the rows that come next, in the order in which they lie, at the pace of the arithmetic: each
/// line to the first-level cache, and what is `far` behind it to the second. The processor's own prefetchers
/// lose the products' pattern of several rows at a time, and stop at each page's end.
class RowsCursor {
 public:
  explicit FLASHPAD_INLINE RowsCursor(RowsAhead const& ahead)
      : m_at(ahead.rows), m_end(ahead.rows + ahead.bytes), m_ahead(ahead) {}

  template <int bytes>
  FLASHPAD_INLINE void advance() {
    if (m_ahead.bytes == 0) return;
#pragma GCC unroll 16
    for (int byte = 0; byte < bytes; byte += 64) {
      __builtin_prefetch(m_at + byte, 0, 3);
      __builtin_prefetch(m_at + byte + m_ahead.far, 0, 2);
    }
    m_at += bytes;
    if (m_at < m_end) return;
    m_end += m_ahead.stride;
    m_at = m_end - m_ahead.bytes;
  }

 private:
  char const* m_at;
  char const* m_end;
  RowsAhead m_ahead;
};

/// exp(s - reference) of `count` vectors, in place, added to total.
template <int count, class T>
FLASHPAD_INLINE void exponentials(T* s, Vector<T> reference, Vector<T>& total) {
  Vector<T> p[count];
  FLASHPAD_EACH(count) p[i] = load(s + i * width<T>) - reference;
  exp_nonpositive(p, T{1});
  FLASHPAD_EACH(count) store(s + i * width<T>, p[i]);
  FLASHPAD_EACH(count) total += p[i];
}

/// Lane i becomes op of all lanes that are i modulo `step`.
template <int step, class V, class Op>
FLASHPAD_INLINE V across(V value, Op const& op) {
  constexpr int lanes = sizeof(V) / sizeof(value[0]);
  if constexpr (step < lanes)
    return across<2 * step>(op(value, shuffle<Rotated<step, lanes>>(value)), op);
  else
    return value;
}

template <class T, int rows>
bool softmax(T* s, int n, T* max, T* sum, T* alpha) {
  constexpr int step = width<T>;
  int const count = n * rows;
  int const end = (count + step - 1) / step * step;
  for (int i = count; i < end; ++i) s[i] = -infinity<T>;
  Vector<T> most = splat<T>(-infinity<T>);
  for (int i = 0; i < end; i += step) most = maximum<T>(most, load(s + i));

  Vector<T> const old_max = broadcast_part<T, width<T> / rows>(max);
  Vector<T> const new_max = maximum<T>(
      old_max,
      across<rows>(
          most, [](Vector<T> a, Vector<T> b) __attribute__((always_inline)) { return maximum<T>(a, b); }));
  // -infinity - -infinity would be NaN: a row that has seen no key yet takes 0 as its reference instead.
  Vector<T> const reference = new_max == -infinity<T> ? splat<T>(0) : new_max;
  Vector<T> total = {};
  int i = 0;
  for (; i + 4 * step <= end; i += 4 * step) exponentials<4>(s + i, reference, total);
  for (; i < end; i += step) exponentials<1>(s + i, reference, total);
  Vector<T> factor[1] = {old_max - reference};
  exp_nonpositive(factor, T{1});
  total = across<rows>(
      total, [](Vector<T> a, Vector<T> b) __attribute__((always_inline)) { return a + b; });
  total += broadcast_part<T, width<T> / rows>(sum) * factor[0];
  __builtin_memcpy(max, &new_max, rows * sizeof(T));
  __builtin_memcpy(sum, &total, rows * sizeof(T));
  __builtin_memcpy(alpha, &factor, rows * sizeof(T));
  return any(old_max != new_max);
}

}  // namespace
}  // namespace flashpad::engines
