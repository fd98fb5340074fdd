// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#pragma GCC diagnostic push
#ifndef __clang__  // GCC 12 takes the undefined vectors of this header for mistakes (its bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>  // inline by force, so it leaves no function behind
#pragma GCC diagnostic pop
#endif

// Vectors of the portable engine: the compiler's own vector extension (GCC and Clang), so one source serves
// every instruction set. Included by files that are compiled once per processor level: everything here is
// inlined by force or has internal linkage, so that no function compiled for a newer processor can be the
// copy that the linker keeps for all.

#define FLASHPAD_INLINE inline __attribute__((always_inline))

// Runs the statement that follows for i = 0 .. count - 1, unrolled: arrays of vectors then stay in registers.
#define FLASHPAD_EACH(count) _Pragma("GCC unroll 32") for (int i = 0; i < (count); ++i)

namespace flashpad::engines {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

using FloatVector __attribute__((vector_size(vector_bytes))) = float;
using FloatBits __attribute__((vector_size(vector_bytes))) = std::int32_t;
using DoubleVector __attribute__((vector_size(vector_bytes))) = double;
using DoubleBits __attribute__((vector_size(vector_bytes))) = std::int64_t;

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = FloatVector;
  using Bits = FloatBits;
};
template <>
struct VectorOf<double> {
  using Type = DoubleVector;
  using Bits = DoubleBits;
};

template <class T>
using Vector = typename VectorOf<T>::Type;
template <class T>
constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
/// A block of queries is two vectors wide.
constexpr int vectors = 2;
template <class T>
constexpr int lanes = vectors * width<T>;
template <class T>
constexpr T infinity = static_cast<T>(__builtin_inf());

template <class T>
FLASHPAD_INLINE Vector<T> splat(T value) {
  return Vector<T>{} + value;
}

template <class T>
FLASHPAD_INLINE Vector<T> load(T const* from) {
  return *reinterpret_cast<Vector<T> const*>(from);
}

template <class T>
FLASHPAD_INLINE void store(T* to, Vector<T> value) {
  *reinterpret_cast<Vector<T>*>(to) = value;
}

template <class T>
FLASHPAD_INLINE Vector<T> load_unaligned(T const* from) {
  Vector<T> value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
FLASHPAD_INLINE void store_unaligned(T* to, Vector<T> value) {
  __builtin_memcpy(to, &value, sizeof(value));
}

/// The larger of each pair; a where b is NaN.
template <class T>
FLASHPAD_INLINE Vector<T> maximum(Vector<T> a, Vector<T> b) {
  return b > a ? b : a;
}

/// Whether any element of a comparison is true.
template <class Mask>
FLASHPAD_INLINE bool any(Mask mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)mask, (__m256i)mask) == 0;
#else
  using Halves __attribute__((vector_size(16))) = std::int64_t;
  Halves const halves = (Halves)mask;
  return (halves[0] | halves[1]) != 0;
#endif
}

}  // namespace
}  // namespace flashpad::engines
