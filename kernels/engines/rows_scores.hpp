// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/rows_parts.hpp"

// Q K^T for few query rows. As portable_vector.hpp, for files that are compiled once per processor level.
//
// A vector of queries holds `lane_rows` rows by `piece` units of the dimension (a unit is what one lane
// multiplies: a number, or a pair of bfloat16); the same piece of a key is broadcast to all its rows. More
// rows to a vector leave fewer lanes to add up at the end, and more broadcasts from memory: with two vectors
// of queries each of those serves two products. Four rows of four lanes do 92 % of the multiply-add's peak
// where one row of sixteen lanes, as for a single query, does 84 % (Zen 4, float, eight rows, d = 64).

namespace flashpad::engines {
namespace {

template <class T, int rows>
struct ScoreShape {
  static constexpr int vectors = rows > 1 ? 2 : 1;
  static constexpr int lane_rows = rows / vectors;
  static constexpr int piece = width<T> / lane_rows;
  static constexpr int keys = sums / vectors;  ///< at a time
};

/// Whether the rows of a block lie along the lanes, as many as there are (rows_lanes.hpp): AVX2 broadcasts an
/// element from memory in one load, and eight rows are half of a vector of AVX-512.
template <class T, int rows>
constexpr bool rows_fill_lanes = vector_bytes == 32 && rows == width<T>;

/// Where unit c of row r of a block lies in q.
template <class T, int rows>
FLASHPAD_INLINE int query_at(int c, int r) {
  if constexpr (rows_fill_lanes<T, rows>) return c * rows + r;
  using Shape = ScoreShape<T, rows>;
  int const vector = c / Shape::piece * Shape::vectors + r / Shape::lane_rows;
  return vector * width<T> + r % Shape::lane_rows * Shape::piece + c % Shape::piece;
}

/// Lanes 0 and 1 of a then b added, lanes 2 and 3, and so on: half as many lanes for each sum, in order.
template <class T>
FLASHPAD_INLINE Vector<T> add_neighbours(Vector<T> a, Vector<T> b) {
  if constexpr (width<T> == 16) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
           __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  } else if constexpr (width<T> == 8) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
  } else if constexpr (width<T> == 4) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
  } else {
    return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
  }
}

/// Adds up each `lanes` lanes of `count` vectors, times scale, to s. Every step has its own array, which
/// keeps them all in registers.
template <class T, int lanes, int count>
FLASHPAD_INLINE void store_sums(Vector<T> const (&sum)[count], T scale, T* s) {
  if constexpr (lanes == 1) {
    FLASHPAD_EACH(count) store(s + i * width<T>, sum[i] * scale);
  } else {
    Vector<T> half[count / 2];
    FLASHPAD_EACH(count / 2) half[i] = add_neighbours<T>(sum[2 * i], sum[2 * i + 1]);
    store_sums<T, lanes / 2>(half, scale, s);
  }
}

/// The addresses of a block of keys; past the last key, the last one's.
template <int keys>
class KeyBlock {
 public:
  FLASHPAD_INLINE KeyBlock(void const* k, std::int64_t stride, int n)
      : m_at(static_cast<char const*>(k)), m_stride(stride), m_left(n) {
    set_offsets();
  }
  FLASHPAD_INLINE void addresses(char const* (&key)[keys]) const {
    FLASHPAD_EACH(keys) key[i] = m_at + m_offset[i];
  }
  FLASHPAD_INLINE bool next() {
    m_at += keys * m_stride;
    m_left -= keys;
    if (m_left < keys && m_left > 0) set_offsets();
    return m_left > 0;
  }

 private:
  FLASHPAD_INLINE void set_offsets() {
    FLASHPAD_EACH(keys) m_offset[i] = (i < m_left ? i : m_left - 1) * m_stride;
  }

  char const* m_at;
  std::int64_t m_stride;
  int m_left;
  std::int64_t m_offset[keys];
};

/// A block's scores. Its keys have `units` of the dimension; sums lie as [key][vector]. Unit has
///   load<lane_rows>(key, c)          the piece of a key from unit c on
///   load_some<lane_rows>(key, c, n)   its first n units, and zeros
///   add(sum, key, query)
/// Few rows take one key after the other, as they lie: then the processor foresees what comes, and different
/// keys' sums, which do not wait for each other, hide the latency.
template <class Unit, class T, int rows>
FLASHPAD_INLINE void score_block(T const* q, char const* const (&key)[ScoreShape<T, rows>::keys], int units,
                                 T scale, T* s, RowsCursor& ahead) {
  using Shape = ScoreShape<T, rows>;
  constexpr int keys = Shape::keys;
  constexpr int group = several_keys<rows> ? keys : 1;
  constexpr int bytes = group * Shape::piece * static_cast<int>(Unit::bytes);
  int const whole = units / Shape::piece * Shape::piece;
  Vector<T> sum[keys * Shape::vectors] = {};
  auto const add = [&](int first, int c, bool some) __attribute__((always_inline)) {
    Vector<T> query[Shape::vectors];
    FLASHPAD_EACH(Shape::vectors) {
      query[i] = load(q + c * rows + i * width<T>);
      keep_in_register(query[i]);
    }
#pragma GCC unroll 16
    for (int y = 0; y < group; ++y) {
      Vector<T> value = some ? Unit::template load_some<Shape::lane_rows>(key[first + y], c, units - c)
                             : Unit::template load<Shape::lane_rows>(key[first + y], c);
      if (Shape::vectors > 1) keep_in_register(value);
      FLASHPAD_EACH(Shape::vectors) {
        Vector<T>& to = sum[(first + y) * Shape::vectors + i];
        to = Unit::add(to, value, query[i]);
      }
    }
  };
#pragma GCC unroll 16
  for (int first = 0; first < keys; first += group) {
    for (int c = 0; c < whole; c += Shape::piece) {
      ahead.template advance<bytes>();
      add(first, c, false);
    }
    if (whole < units) add(first, whole, true);
  }
  store_sums<T, Shape::piece>(sum, scale, s);
}

}  // namespace
}  // namespace flashpad::engines
