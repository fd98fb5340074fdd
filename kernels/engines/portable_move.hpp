// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/portable_vector.hpp"
#include "kokkos_ext/half.hpp"

// Rows in memory to vectors and back: conversion, and transposition, since query rows lie along the lanes. As
// portable_vector.hpp, included by files that are compiled once per processor level.

namespace flashpad::engines {
namespace {

/// Brings what is about to be written to the first-level cache, many lines at a time: a store that misses it
/// holds up those behind it (Zen 5: 14 cycles a line from the second level).
FLASHPAD_INLINE void prefetch_for_writing(void const* to, int bytes) {
  for (int at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<char const*>(to) + at, 1);
}

/// a0 b0 a1 b1 ..., of the lower and of the upper halves of a and b.
template <class V>
FLASHPAD_INLINE void interleave(V a, V b, V& low, V& high) {
  constexpr int n = sizeof(V) / sizeof(a[0]);
  if constexpr (n == 2) {
    low = __builtin_shufflevector(a, b, 0, 2);
    high = __builtin_shufflevector(a, b, 1, 3);
  } else if constexpr (n == 4) {
    low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  } else if constexpr (n == 8) {
    low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else {
    low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}

/// Transposes a square: each step interleaves row i with row i + n/2, which rotates the bits of an element's
/// index by one; after log2(n) steps rows and columns have changed places.
template <class V>
FLASHPAD_INLINE void transpose(V (&rows)[sizeof(V) / sizeof(V{}[0])]) {
  constexpr int n = sizeof(V) / sizeof(V{}[0]);
#pragma GCC unroll 4
  for (int step = 1; step < n; step *= 2) {
    V from[n];
    FLASHPAD_EACH(n) from[i] = rows[i];
    FLASHPAD_EACH(n / 2) interleave(from[i], from[i + n / 2], rows[2 * i], rows[2 * i + 1]);
  }
}

#if defined(__AVX512F__)
/// The same for 16 x 16 floats: 4 x 4 inside the 128-bit lanes, then the lanes. Zen 5 takes 64 cycles for the
/// permutations by two registers that the above is made of, and half of that for these.
FLASHPAD_INLINE void transpose(FloatVector (&rows)[16]) {
  __m512d from[16];
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    __m512d const low01 = _mm512_castps_pd(_mm512_unpacklo_ps((__m512)rows[i], (__m512)rows[i + 1]));
    __m512d const high01 = _mm512_castps_pd(_mm512_unpackhi_ps((__m512)rows[i], (__m512)rows[i + 1]));
    __m512d const low23 = _mm512_castps_pd(_mm512_unpacklo_ps((__m512)rows[i + 2], (__m512)rows[i + 3]));
    __m512d const high23 = _mm512_castps_pd(_mm512_unpackhi_ps((__m512)rows[i + 2], (__m512)rows[i + 3]));
    from[i] = _mm512_unpacklo_pd(low01, low23);
    from[i + 1] = _mm512_unpackhi_pd(low01, low23);
    from[i + 2] = _mm512_unpacklo_pd(high01, high23);
    from[i + 3] = _mm512_unpackhi_pd(high01, high23);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    // Lanes 0 and 2 of two rows, lanes 1 and 3 of two rows; and once more.
    __m512d const even01 = _mm512_shuffle_f64x2(from[i], from[i + 4], 0x88);
    __m512d const odd01 = _mm512_shuffle_f64x2(from[i], from[i + 4], 0xdd);
    __m512d const even23 = _mm512_shuffle_f64x2(from[i + 8], from[i + 12], 0x88);
    __m512d const odd23 = _mm512_shuffle_f64x2(from[i + 8], from[i + 12], 0xdd);
    rows[i] = (FloatVector)_mm512_shuffle_f64x2(even01, even23, 0x88);
    rows[i + 4] = (FloatVector)_mm512_shuffle_f64x2(odd01, odd23, 0x88);
    rows[i + 8] = (FloatVector)_mm512_shuffle_f64x2(even01, even23, 0xdd);
    rows[i + 12] = (FloatVector)_mm512_shuffle_f64x2(odd01, odd23, 0xdd);
  }
}
#endif

template <class Storage>
FLASHPAD_INLINE Storage const* row_of(void const* storage, std::int64_t stride, int row) {
  return reinterpret_cast<Storage const*>(static_cast<char const*>(storage) + row * stride);
}

/// width<T> elements from memory.
template <class T, class Storage>
FLASHPAD_INLINE Vector<T> load_as(Storage const* from) {
  Vector<T> value;
  FLASHPAD_EACH(width<T>) value[i] = to_float(from[i]);
  return value;
}
template <>
FLASHPAD_INLINE FloatVector load_as<float, float>(float const* from) {
  return load_unaligned<float>(from);
}
template <>
FLASHPAD_INLINE DoubleVector load_as<double, double>(double const* from) {
  return load_unaligned<double>(from);
}

template <class T, class Storage>
FLASHPAD_INLINE void store_as(Storage* to, Vector<T> value) {
  FLASHPAD_EACH(width<T>) to[i] = from_float<Storage>(value[i]);
}
template <>
FLASHPAD_INLINE void store_as<float, float>(float* to, FloatVector value) {
  store_unaligned<float>(to, value);
}
template <>
FLASHPAD_INLINE void store_as<double, double>(double* to, DoubleVector value) {
  store_unaligned<double>(to, value);
}

/// As from_float: to nearest, ties to even; NaN stays NaN.
template <>
FLASHPAD_INLINE void store_as<float, bfloat16>(bfloat16* to, FloatVector value) {
  using Bits __attribute__((vector_size(vector_bytes))) = std::uint32_t;
  using Words __attribute__((vector_size(vector_bytes / 2))) = std::uint16_t;
  Bits const bits = (Bits)value;
  Bits const rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  Bits const nan = (bits >> 16) | 0x40u;
  Words const words = __builtin_convertvector(value == value ? rounded : nan, Words);
  __builtin_memcpy(to, &words, sizeof(words));
}

#if defined(__AVX512F__)
template <>
FLASHPAD_INLINE FloatVector load_as<float, half>(half const* from) {
  return (FloatVector)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(from)));
}
template <>
FLASHPAD_INLINE void store_as<float, half>(half* to, FloatVector value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_cvtps_ph((__m512)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
template <>
FLASHPAD_INLINE FloatVector load_as<float, bfloat16>(bfloat16 const* from) {
  __m256i const bits = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
  return (FloatVector)_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
}
#elif defined(__F16C__) && defined(__AVX2__)
template <>
FLASHPAD_INLINE FloatVector load_as<float, half>(half const* from) {
  return (FloatVector)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from)));
}
template <>
FLASHPAD_INLINE void store_as<float, half>(half* to, FloatVector value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT));
}
template <>
FLASHPAD_INLINE FloatVector load_as<float, bfloat16>(bfloat16 const* from) {
  __m128i const bits = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
  return (FloatVector)_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16);
}
#endif

/// The first `count` elements of a vector; the others are 0, and not read.
template <class T, class Storage>
FLASHPAD_INLINE Vector<T> load_part(Storage const* from, int count) {
  if (count >= width<T>) return load_as<T>(from);
  Vector<T> value = {};
  for (int i = 0; i < count; ++i) value[i] = to_float(from[i]);
  return value;
}

template <class T, class Storage>
FLASHPAD_INLINE void store_part(Storage* to, Vector<T> value, int count) {
  if (count >= width<T>) return store_as<T>(to, value);
  for (int i = 0; i < count; ++i) to[i] = from_float<Storage>(value[i]);
}

/// width<T> rows of as many elements; what lies past `rows` or `columns` is 0, and not read. Two paths: with
/// a choice in each row the compiler would keep the square in memory.
template <class T, class Storage>
FLASHPAD_INLINE void load_square(Storage const* from, std::int64_t stride, int rows, int columns,
                                 Vector<T> (&square)[width<T>]) {
  if (rows >= width<T> && columns >= width<T>) {
    FLASHPAD_EACH(width<T>) square[i] = load_as<T>(row_of<Storage>(from, stride, i));
  } else {
    for (int i = 0; i < width<T>; ++i)
      square[i] = i < rows ? load_part<T>(row_of<Storage>(from, stride, i), columns) : Vector<T>{};
  }
}

template <class T, class Storage>
FLASHPAD_INLINE void store_square(Vector<T> const (&square)[width<T>], Storage* to, std::int64_t stride,
                                  int rows, int columns) {
  auto const row = [&](int i) __attribute__((always_inline)) {
    return reinterpret_cast<Storage*>(reinterpret_cast<char*>(to) + i * stride);
  };
  if (rows >= width<T> && columns >= width<T>) {
    FLASHPAD_EACH(width<T>) store_as<T>(row(i), square[i]);
  } else {
    for (int i = 0; i < width<T> && i < rows; ++i) store_part<T>(row(i), square[i], columns);
  }
}

template <class Storage, class T>
void store_output(T const* acc, T const* sum, int rows, int dim, void* storage, std::int64_t stride) {
  for (int r = 0; r < rows; ++r) {
    prefetch_for_writing(static_cast<char*>(storage) + r * stride, dim * static_cast<int>(sizeof(Storage)));
  }
  for (int first = 0; first < rows; first += width<T>) {
    Vector<T> const divisor = load(sum + first);
    auto const seen = divisor != T{0};
    auto* const to = reinterpret_cast<Storage*>(static_cast<char*>(storage) + first * stride);
    for (int c = 0; c < dim; c += width<T>) {
      // Divided, not multiplied by the reciprocal: a row of equal values then gives just that value. A sum of
      // zero is a row that sees no key; a NaN compares unequal and stays. What lies past dim is not stored.
      Vector<T> square[width<T>];
      FLASHPAD_EACH(width<T>) {
        T const* const at = acc + (c + i < dim ? c + i : c) * lanes<T> + first;
        square[i] = seen ? load(at) / divisor : Vector<T>{};
      }
      transpose(square);
      store_square<T>(square, to + c, stride, rows - first, dim - c);
    }
  }
}

}  // namespace
}  // namespace flashpad::engines
