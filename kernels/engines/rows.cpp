// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Micro-kernels for few query rows: vectors of the compiler, one source for every instruction set. Compiled
// once per processor level (FLASHPAD_LEVEL); includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/rows_lanes.hpp"

namespace flashpad::engines {
namespace {

/// Numbers that are multiplied as they lie in memory, or widened as they are loaded (by whole vectors alone).
template <class Storage, class T>
struct Numbers {
  static constexpr int bytes = sizeof(Storage);

  template <int lane_rows>
  FLASHPAD_INLINE static Vector<T> load(char const* key, int c) {
    Storage const* const from = reinterpret_cast<Storage const*>(key) + c;
    if constexpr (lane_rows == 1)
      return load_row(from);
    else
      return broadcast_part<T, lane_rows>(from);
  }
  /// A head dimension is a multiple of 8: what is left over is half a vector, of a whole one alone.
  template <int lane_rows>
  FLASHPAD_INLINE static Vector<T> load_some(char const* key, int c, int) {
    return load_half(reinterpret_cast<Storage const*>(key) + c);
  }
  FLASHPAD_INLINE static Vector<T> add(Vector<T> sum, Vector<T> a, Vector<T> b) { return sum + a * b; }
};

template <class Storage, class T, int rows>
void load_query(void const* row, int dim, int r, T* q) {
  auto const* from = static_cast<Storage const*>(row);
  for (int c = 0; c < padded<T>(dim); ++c) {
    q[query_at<T, rows>(c, r)] = from != nullptr && c < dim ? to_float(from[c]) : T{0};
  }
}

/// As score_block, for keys that are widened: by whole vectors, whose pieces are broadcast in registers.
template <class Storage, class T, int rows>
FLASHPAD_INLINE void score_widened(T const* q, char const* const (&key)[ScoreShape<T, rows>::keys], int dim,
                                   T scale, T* s, RowsCursor& ahead) {
  using Shape = ScoreShape<T, rows>;
  Vector<T> sum[Shape::keys * Shape::vectors] = {};
  Vector<T> value[Shape::keys];
  auto const add = [&]<int piece>(auto const& self, int c) __attribute__((always_inline)) {
    Vector<T> query[Shape::vectors];
    FLASHPAD_EACH(Shape::vectors) query[i] = load(q + (c + piece * Shape::piece) * rows + i * width<T>);
#pragma GCC unroll 16
    for (int y = 0; y < Shape::keys; ++y) {
      Vector<T> const part = shuffle<Repeated<piece * Shape::piece, Shape::piece>>(value[y]);
      FLASHPAD_EACH(Shape::vectors) sum[y * Shape::vectors + i] += part * query[i];
    }
    if constexpr (piece + 1 < Shape::lane_rows) self.template operator()<piece + 1>(self, c);
  };
  int const whole = dim / width<T> * width<T>;
  for (int c = 0; c < whole; c += width<T>) {
    ahead.template advance<Shape::keys * width<T>* static_cast<int>(sizeof(Storage))>();
    FLASHPAD_EACH(Shape::keys) value[i] = load_row(reinterpret_cast<Storage const*>(key[i]) + c);
    add.template operator()<0>(add, c);
  }
  if (whole < dim) {
    FLASHPAD_EACH(Shape::keys) value[i] = load_half(reinterpret_cast<Storage const*>(key[i]) + whole);
    add.template operator()<0>(add, whole);
  }
  store_sums<T, Shape::piece>(sum, scale, s);
}

template <class Storage, class T, int rows>
void scores(T const* q, void const* k, std::int64_t stride, int n, int dim, T scale, T* s, RowsAhead next) {
  if constexpr (rows_fill_lanes<T, rows>) {
    scores_along_lanes<Storage>(q, k, stride, n, dim, scale, s, next);
  } else {
    constexpr int keys = ScoreShape<T, rows>::keys;
    RowsCursor ahead(next);
    KeyBlock<keys> block(k, stride, n);
    do {
      char const* key[keys];
      block.addresses(key);
      if constexpr (sizeof(Storage) != sizeof(T) && ScoreShape<T, rows>::lane_rows > 1)
        score_widened<Storage, T, rows>(q, key, dim, scale, s, ahead);
      else
        score_block<Numbers<Storage, T>, T, rows>(q, key, dim, scale, s, ahead);
      s += keys * rows;
    } while (block.next());
  }
}

/// `columns` vectors of acc, from column c on, for `rows` of a block's `of` rows; half_vector: the last half
/// vector of a row.
template <class Storage, class T, int of, int rows, int columns, bool half_vector>
FLASHPAD_INLINE void accumulate_columns(T const* p, Storage const* v, std::int64_t stride, int n, int acc_row,
                                        T const* alpha, T* acc, RowsCursor& ahead) {
  Vector<T> sum[rows][columns] = {};  // the keys' apart from acc's, as in portable_sums.hpp
  for (int j = 0; j < n; ++j) {
    Storage const* row = row_of<Storage>(v, stride, j);
    ahead.template advance<columns * width<T>* static_cast<int>(sizeof(Storage))>();
#pragma GCC unroll 16
    for (int x = 0; x < columns; ++x) {
      Vector<T> const value = load_part<half_vector>(row + x * width<T>);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) sum[r][x] += value * p[j * of + r];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    T const before = alpha != nullptr ? alpha[r] : T{1};
#pragma GCC unroll 16
    for (int x = 0; x < columns; ++x) {
      T* const at = acc + r * acc_row + x * width<T>;
      store(at, sum[r][x] + load(at) * before);
    }
  }
}

template <class Storage, class T, int of, int rows, int columns>
FLASHPAD_INLINE void accumulate_from(int c, T const* p, Storage const* v, std::int64_t stride, int n, int dim,
                                     T const* alpha, T* acc, RowsCursor& ahead) {
  int const acc_row = padded<T>(dim);
  for (; c + columns * width<T> <= dim; c += columns * width<T>) {
    accumulate_columns<Storage, T, of, rows, columns, false>(p, v + c, stride, n, acc_row, alpha, acc + c,
                                                             ahead);
  }
  if constexpr (columns > 1) {
    if (c < dim)
      accumulate_from<Storage, T, of, rows, columns / 2>(c, p, v, stride, n, dim, alpha, acc, ahead);
  } else if (c < dim) {
    accumulate_columns<Storage, T, of, rows, 1, true>(p, v + c, stride, n, acc_row, alpha, acc + c, ahead);
  }
}

template <class Storage, class T, int rows>
void accumulate(T* p, void const* v, std::int64_t stride, int n, int dim, T const* alpha, T* acc,
                RowsAhead next) {
  // With 16 registers four rows at a time: V's vectors then serve four products each, and two of them the
  // weights.
  constexpr int at_once = rows < sums / 2 ? rows : sums / 2;
  auto const* const values = static_cast<Storage const*>(v);
  RowsCursor ahead(next);
#pragma GCC unroll 8
  for (int r = 0; r < rows; r += at_once) {
    accumulate_from<Storage, T, rows, at_once, sums / at_once>(0, p + r, values, stride, n, dim,
                                                               alpha != nullptr ? alpha + r : nullptr,
                                                               acc + r * padded<T>(dim), ahead);
    ahead = RowsCursor({});  // the first rows have asked for what comes
  }
}

template <class Storage, class T>
void store_output(T const* acc, T sum, int dim, void* row) {
  auto* to = static_cast<Storage*>(row);
  for (int c = 0; c < dim; ++c) to[c] = from_float<Storage>(sum == 0 ? T{0} : acc[c] / sum);
}

template <class Storage, class T, int size>
void fill(RowsTable<T>& table) {
  constexpr int rows = 1 << size;
  table.load_query[size] = load_query<Storage, T, rows>;
  table.scores[size] = scores<Storage, T, rows>;
  table.softmax[size] = softmax<T, rows>;
  table.accumulate[size] = accumulate<Storage, T, rows>;
  if constexpr (2 * rows <= rows_in_block<T>) fill<Storage, T, size + 1>(table);
}

template <class Storage, class T>
RowsTable<T> make_table(char const* engine) {
  RowsTable<T> table;
  table.engine = engine;
  table.most_rows = rows_in_block<T>;
  table.key_unit = sums;
  table.dim_unit = width<T>;
  table.store_output = store_output<Storage, T>;
  table.store_partial = store_output<T, T>;
  fill<Storage, T, 0>(table);
  return table;
}

#define FLASHPAD_STRING_OF(x) #x
#define FLASHPAD_STRING(x) FLASHPAD_STRING_OF(x)

}  // namespace

RowsTables FLASHPAD_ROWS_TABLES(FLASHPAD_LEVEL)() {
  char const* const engine = "rows-" FLASHPAD_STRING(FLASHPAD_LEVEL);
  return {make_table<double, double>(engine), make_table<float, float>(engine),
          make_table<half, float>(engine), make_table<bfloat16, float>(engine)};
}

}  // namespace flashpad::engines
