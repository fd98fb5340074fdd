// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The portable host engine: vectors of the compiler, one source for every instruction set. Compiled once per
// processor level (FLASHPAD_LEVEL); includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/host_tables.hpp"
#include "kernels/engines/portable_move.hpp"
#include "kernels/engines/portable_softmax.hpp"
#include "kernels/engines/portable_sums.hpp"

namespace flashpad::engines {
namespace {

// The products keep `at_once` x 2 sums in registers, of so many keys or elements of V: enough to hide the
// latency of the multiply-add (4 cycles, 2 a cycle) within 32 registers of AVX-512 and 16 of the others, at
// 10 loads for 16 multiply-adds (or 8 for 12).
#if defined(__AVX512F__)
constexpr int at_once = 8;
#else
constexpr int at_once = 6;
#endif

template <class Storage, class T>
void load_queries(void const* storage, std::int64_t stride, int rows, int dim, T factor, void* out) {
  T* const q = static_cast<T*>(out);
  prefetch_for_writing(q, dim * lanes<T> * static_cast<int>(sizeof(T)));
  for (int first = 0; first < lanes<T>; first += width<T>) {
    for (int c = 0; c < dim; c += width<T>) {
      Vector<T> square[width<T>];
      load_square<T>(row_of<Storage>(storage, stride, first) + c, stride, rows - first, dim - c, square);
      transpose(square);
      T* const at = q + c * lanes<T> + first;
      if (c + width<T> <= dim) {
        FLASHPAD_EACH(width<T>) store(at + i * lanes<T>, square[i] * factor);
      } else {
        for (int i = 0; i < dim - c; ++i) store(at + i * lanes<T>, square[i] * factor);
      }
    }
  }
}

template <class Storage, class T>
void load_rows(void const* storage, std::int64_t stride, int n, int dim, void* out) {
  T* to = static_cast<T*>(out);
  for (int j = 0; j < n; ++j, to += dim) {
    Storage const* from = row_of<Storage>(storage, stride, j);
    int c = 0;
    for (; c + width<T> <= dim; c += width<T>) store_unaligned(to + c, load_as<T>(from + c));
    for (; c < dim; ++c) to[c] = to_float(from[c]);
  }
}

/// Scores of `keys` keys; 8 elements of each are multiplied a turn, so that the loop's end is foreseen.
template <int keys, class T>
FLASHPAD_INLINE void score_keys(T const* q, char const* k, std::int64_t stride, int dim, T* s,
                                Vector<T> (&most)[vectors]) {
  Vector<T> sum[keys][vectors] = {};
  for (int from = 0; from < dim; from += 8) {
#pragma GCC unroll 8
    for (int c = from; c < from + 8; ++c) {
      Vector<T> query[vectors];
      FLASHPAD_EACH(vectors) query[i] = load(q + c * lanes<T> + i * width<T>);
#pragma GCC unroll 16
      for (int y = 0; y < keys; ++y) {
        T const element = reinterpret_cast<T const*>(k + y * stride)[c];
        FLASHPAD_EACH(vectors) sum[y][i] += query[i] * element;
      }
    }
  }
#pragma GCC unroll 16
  for (int y = 0; y < keys; ++y) {
    FLASHPAD_EACH(vectors) store(s + y * lanes<T> + i * width<T>, sum[y][i]);
    FLASHPAD_EACH(vectors) most[i] = maximum<T>(most[i], sum[y][i]);
  }
}

template <class T>
void scores(void const* q, void const* keys, std::int64_t stride, int n, int dim, T* s, T* tile_max) {
  T const* const query = static_cast<T const*>(q);
  char const* const k = static_cast<char const*>(keys);
  Vector<T> most[vectors];
  FLASHPAD_EACH(vectors) most[i] = splat<T>(-infinity<T>);
  int j = 0;
  for (; j + at_once <= n; j += at_once)
    score_keys<at_once, T>(query, k + j * stride, stride, dim, s + j * lanes<T>, most);
  for (; j + 4 <= n; j += 4) score_keys<4, T>(query, k + j * stride, stride, dim, s + j * lanes<T>, most);
  for (; j < n; ++j) score_keys<1, T>(query, k + j * stride, stride, dim, s + j * lanes<T>, most);
  FLASHPAD_EACH(vectors) store(tile_max + i * width<T>, most[i]);
}

/// `dims` elements of V, which v and acc begin with.
template <int dims, class T>
FLASHPAD_INLINE void accumulate_dims(T const* p, char const* v, std::int64_t stride, int n, Rescale rescale,
                                     T const* alpha, T* acc) {
  Vector<T> sum[dims][vectors] = {};
  for (int j = 0; j < n; ++j) {
    T const* const row = reinterpret_cast<T const*>(v + j * stride);
    Vector<T> weight[vectors];
    FLASHPAD_EACH(vectors) weight[i] = load(p + j * lanes<T> + i * width<T>);
#pragma GCC unroll 16
    for (int y = 0; y < dims; ++y) FLASHPAD_EACH(vectors) sum[y][i] += weight[i] * row[y];
  }
  add_to_outputs<dims, T>(sum, rescale, alpha, acc);
}

template <class T>
void accumulate(void const* probabilities, void const* values, std::int64_t stride, int n, int dim,
                Rescale rescale, T const* alpha, T* acc) {
  T const* const p = static_cast<T const*>(probabilities);
  char const* const v = static_cast<char const*>(values);
  constexpr int bytes = sizeof(T);
  int c = 0;
  for (; c + at_once <= dim; c += at_once)
    accumulate_dims<at_once, T>(p, v + c * bytes, stride, n, rescale, alpha, acc + c * lanes<T>);
  for (; c + 4 <= dim; c += 4)
    accumulate_dims<4, T>(p, v + c * bytes, stride, n, rescale, alpha, acc + c * lanes<T>);
  for (; c < dim; c += 2)
    accumulate_dims<2, T>(p, v + c * bytes, stride, n, rescale, alpha, acc + c * lanes<T>);
}

template <class Storage, class T>
HostTable<T> make_table(char const* engine) {
  HostTable<T> table;
  table.engine = engine;
  table.lanes = lanes<T>;
  table.storage_bytes = sizeof(Storage);
  table.keys_are_operands = table.values_are_operands = sizeof(Storage) == sizeof(T);
  table.load_queries = load_queries<Storage, T>;
  table.load_keys = table.load_values = load_rows<Storage, T>;
  table.scores = scores<T>;
  table.mask = mask<T>;
  table.softmax = softmax<T, KeepP<T>>;
  table.softmax_row = softmax_row<T>;
  table.accumulate = accumulate<T>;
  table.store_output = store_output<Storage, T>;
  return table;
}

#define FLASHPAD_STRING_OF(x) #x
#define FLASHPAD_STRING(x) FLASHPAD_STRING_OF(x)

}  // namespace

HostTables FLASHPAD_PORTABLE_TABLES(FLASHPAD_LEVEL)() {
  char const* const engine = "portable-" FLASHPAD_STRING(FLASHPAD_LEVEL);
  return {make_table<double, double>(engine), make_table<float, float>(engine),
          make_table<half, float>(engine), make_table<bfloat16, float>(engine)};
}

}  // namespace flashpad::engines
