// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The portable host engine: vectors of the compiler, one source for every instruction set. Compiled once per
// processor level (FLASHPAD_LEVEL); includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/portable.hpp"
#include "kernels/engines/portable_vector.hpp"
#include "kokkos_ext/half.hpp"

namespace flashpad::engines {
namespace {

// A block of queries is two vectors wide. The products keep `keys_at_once` x 2 (or `dims_at_once` x 2)
// accumulators in registers: enough to hide the latency of the multiply-add (4 cycles, 2 a cycle), within 32
// registers of AVX-512 and 16 of the others.
constexpr int vectors = 2;
#if defined(__AVX512F__)
constexpr int keys_at_once = 8;
constexpr int dims_at_once = 8;
#else
constexpr int keys_at_once = 4;
constexpr int dims_at_once = 4;
#endif

template <class T>
constexpr int lanes = vectors * width<T>;

template <class Storage>
FLASHPAD_INLINE Storage const* row_of(void const* storage, std::int64_t stride, int row) {
  return reinterpret_cast<Storage const*>(static_cast<char const*>(storage) + row * stride);
}

template <class Storage, class T>
void load_queries(void const* storage, std::int64_t stride, int rows, int dim, T* q) {
  for (int r = 0; r < lanes<T>; ++r) {
    Storage const* from = row_of<Storage>(storage, stride, r);
    for (int c = 0; c < dim; ++c) q[c * lanes<T> + r] = r < rows ? to_float(from[c]) : T{0};
  }
}

template <class Storage, class T>
void load_keys(void const* storage, std::int64_t stride, int n, int dim, T* out) {
  for (int j = 0; j < n; ++j) {
    Storage const* from = row_of<Storage>(storage, stride, j);
    for (int c = 0; c < dim; ++c) out[j * dim + c] = to_float(from[c]);
  }
}

template <class T>
void scores(T const* q, T const* k, int n, int dim, T scale, T* s) {
  for (int j = 0; j < n; j += keys_at_once) {
    Vector<T> sum[keys_at_once][vectors] = {};
    T const* key = k + j * dim;
    for (int c = 0; c < dim; ++c) {
      Vector<T> query[vectors];
#pragma GCC unroll 2
      for (int x = 0; x < vectors; ++x) query[x] = load(q + c * lanes<T> + x * width<T>);
#pragma GCC unroll 8
      for (int y = 0; y < keys_at_once; ++y) {
#pragma GCC unroll 2
        for (int x = 0; x < vectors; ++x) sum[y][x] += query[x] * key[y * dim + c];
      }
    }
#pragma GCC unroll 8
    for (int y = 0; y < keys_at_once; ++y) {
#pragma GCC unroll 2
      for (int x = 0; x < vectors; ++x) store(s + (j + y) * lanes<T> + x * width<T>, sum[y][x] * scale);
    }
  }
}

template <class T>
bool softmax(T* s, int n, T* max, T* sum, T* alpha) {
  constexpr T infinity = static_cast<T>(__builtin_inf());
  bool moved = false;
  for (int x = 0; x < vectors; ++x) {
    T* const column = s + x * width<T>;
    Vector<T> const old_max = load(max + x * width<T>);
    Vector<T> new_max = old_max;
    for (int j = 0; j < n; ++j) new_max = maximum<T>(new_max, load(column + j * lanes<T>));
    // -infinity - -infinity would be NaN: a row that has seen no key yet takes 0 as its reference instead.
    Vector<T> const reference = new_max == -infinity ? splat<T>(0) : new_max;
    Vector<T> const factor = exp_nonpositive<T>(old_max - reference);
    Vector<T> total = {};
    for (int j = 0; j < n; ++j) {
      Vector<T> const p = exp_nonpositive<T>(load(column + j * lanes<T>) - reference);
      store(column + j * lanes<T>, p);
      total += p;
    }
    store(sum + x * width<T>, load(sum + x * width<T>) * factor + total);
    store(max + x * width<T>, new_max);
    store(alpha + x * width<T>, factor);
    auto const changed = old_max != new_max;
    for (int r = 0; r < width<T>; ++r) moved = moved || changed[r] != 0;
  }
  return moved;
}

template <class T>
void softmax_row(T* s, std::int64_t n, T* max, T* sum) {
  constexpr T infinity = static_cast<T>(__builtin_inf());
  std::int64_t const whole = n / width<T> * width<T>;
  Vector<T> most = splat<T>(-infinity);
  for (std::int64_t j = 0; j < whole; j += width<T>) most = maximum<T>(most, load_unaligned(s + j));
  // What is left over is padded with scores of -infinity, whose exponential is 0.
  Vector<T> rest = splat<T>(-infinity);
  for (std::int64_t j = whole; j < n; ++j) rest[j - whole] = s[j];
  most = maximum<T>(most, rest);
  T row_max = -infinity;
  for (int r = 0; r < width<T>; ++r) row_max = most[r] > row_max ? most[r] : row_max;

  T const reference = row_max == -infinity ? T{0} : row_max;
  Vector<T> total = {};
  for (std::int64_t j = 0; j < whole; j += width<T>) {
    Vector<T> const p = exp_nonpositive<T>(load_unaligned(s + j) - reference);
    store_unaligned(s + j, p);
    total += p;
  }
  rest = exp_nonpositive<T>(rest - reference);
  total += rest;
  T row_sum = 0;
  for (int r = 0; r < width<T>; ++r) row_sum += total[r];
  T const inverse = row_sum == 0 ? T{0} : 1 / row_sum;
  for (std::int64_t j = 0; j < whole; j += width<T>) store_unaligned(s + j, load_unaligned(s + j) * inverse);
  for (std::int64_t j = whole; j < n; ++j) s[j] = rest[j - whole] * inverse;
  *max = row_max;
  *sum = row_sum;
}

template <class T>
void rescale(T const* alpha, int dim, T* acc) {
  for (int x = 0; x < vectors; ++x) {
    Vector<T> const factor = load(alpha + x * width<T>);
    for (int c = 0; c < dim; ++c) {
      T* const at = acc + c * lanes<T> + x * width<T>;
      store(at, load(at) * factor);
    }
  }
}

template <class T>
void accumulate(T const* p, T const* v, int n, int dim, T* acc) {
  for (int c = 0; c < dim; c += dims_at_once) {
    Vector<T> sum[dims_at_once][vectors];
    T* const at = acc + c * lanes<T>;
#pragma GCC unroll 8
    for (int y = 0; y < dims_at_once; ++y) {
#pragma GCC unroll 2
      for (int x = 0; x < vectors; ++x) sum[y][x] = load(at + y * lanes<T> + x * width<T>);
    }
    for (int j = 0; j < n; ++j) {
      Vector<T> weight[vectors];
#pragma GCC unroll 2
      for (int x = 0; x < vectors; ++x) weight[x] = load(p + j * lanes<T> + x * width<T>);
#pragma GCC unroll 8
      for (int y = 0; y < dims_at_once; ++y) {
#pragma GCC unroll 2
        for (int x = 0; x < vectors; ++x) sum[y][x] += weight[x] * v[j * dim + c + y];
      }
    }
#pragma GCC unroll 8
    for (int y = 0; y < dims_at_once; ++y) {
#pragma GCC unroll 2
      for (int x = 0; x < vectors; ++x) store(at + y * lanes<T> + x * width<T>, sum[y][x]);
    }
  }
}

template <class Storage, class T>
void store_output(T const* acc, T const* sum, int rows, int dim, void* storage, std::int64_t stride) {
  for (int r = 0; r < rows; ++r) {
    auto* to = reinterpret_cast<Storage*>(static_cast<char*>(storage) + r * stride);
    // Divided, not multiplied by the reciprocal: a row of equal values then gives just that value. A sum of
    // zero is a row that sees no key; a NaN compares unequal and stays.
    for (int c = 0; c < dim; ++c) {
      T const value = sum[r] == 0 ? T{0} : acc[c * lanes<T> + r] / sum[r];
      to[c] = from_float<Storage>(value);
    }
  }
}

template <class Storage, class T>
HostTable<T> make_table(char const* level) {
  HostTable<T> table;
  table.level = level;
  table.lanes = lanes<T>;
  table.key_unit = keys_at_once;
  table.load_queries = load_queries<Storage, T>;
  table.load_keys = load_keys<Storage, T>;
  table.scores = scores<T>;
  table.softmax = softmax<T>;
  table.softmax_row = softmax_row<T>;
  table.rescale = rescale<T>;
  table.accumulate = accumulate<T>;
  table.store_output = store_output<Storage, T>;
  return table;
}

#define FLASHPAD_STRING_OF(x) #x
#define FLASHPAD_STRING(x) FLASHPAD_STRING_OF(x)

}  // namespace

PortableTables FLASHPAD_PORTABLE_TABLES(FLASHPAD_LEVEL)() {
  char const* const level = FLASHPAD_STRING(FLASHPAD_LEVEL);
  return {make_table<double, double>(level), make_table<float, float>(level), make_table<half, float>(level),
          make_table<bfloat16, float>(level)};
}

}  // namespace flashpad::engines
