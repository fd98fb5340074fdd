// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/portable_vector.hpp"
#include "kokkos_ext/half.hpp"

// Vectors of K and V as they lie in memory, and sums across lanes. As portable_vector.hpp, for files that are
// compiled once per processor level.

namespace flashpad::engines {
namespace {

/// One vector of T from elements in storage; `load_half` takes half as many and zeros. A head dimension is a
/// multiple of 8, so a half is the only remainder there is, and only where a vector holds 16 elements.
FLASHPAD_INLINE Vector<float> load_row(float const* from) { return load_unaligned(from); }
FLASHPAD_INLINE Vector<double> load_row(double const* from) { return load_unaligned(from); }

FLASHPAD_INLINE Vector<float> load_row(bfloat16 const* from) {
#if defined(__AVX512F__)
  __m256i const narrow = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
  return (Vector<float>)_mm512_slli_epi32(_mm512_cvtepu16_epi32(narrow), 16);
#elif defined(__AVX2__)
  __m128i const narrow = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
  return (Vector<float>)_mm256_slli_epi32(_mm256_cvtepu16_epi32(narrow), 16);
#else
  using Narrow __attribute__((vector_size(vector_bytes / 2))) = std::uint16_t;
  using Wide __attribute__((vector_size(vector_bytes))) = std::uint32_t;
  Narrow narrow;
  __builtin_memcpy(&narrow, from, sizeof(narrow));
  return (Vector<float>)(__builtin_convertvector(narrow, Wide) << 16);
#endif
}

FLASHPAD_INLINE Vector<float> load_row(half const* from) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(from)));
#elif defined(__F16C__)
  return (Vector<float>)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from)));
#else
  Vector<float> value;
  for (int i = 0; i < width<float>; ++i) value[i] = to_float(from[i]);
  return value;
#endif
}

#if defined(__AVX512F__)
FLASHPAD_INLINE Vector<float> load_half(float const* from) {
  return (Vector<float>)_mm512_maskz_loadu_ps(0x00ff, from);
}
FLASHPAD_INLINE Vector<float> load_half(bfloat16 const* from) {
  __m256i const narrow = _mm256_maskz_loadu_epi16(0x00ff, from);
  return (Vector<float>)_mm512_slli_epi32(_mm512_cvtepu16_epi32(narrow), 16);
}
FLASHPAD_INLINE Vector<float> load_half(half const* from) {
  return (Vector<float>)_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(0x00ff, from));
}
#endif
/// Vectors that a remainder of 8 fills have no halves.
template <class Storage>
FLASHPAD_INLINE auto load_half(Storage const* from) {
  return load_row(from);
}

template <bool half_vector, class Storage>
FLASHPAD_INLINE auto load_part(Storage const* from) {
  if constexpr (half_vector)
    return load_half(from);
  else
    return load_row(from);
}

/// GCC would read memory again for each use of a value that an instruction can take from there.
template <class V>
FLASHPAD_INLINE void keep_in_register([[maybe_unused]] V& value) {
#if defined(__AVX512F__)
  __asm__("" : "+v"(value));
#endif
}

// Neighbouring pairs of a and b, added: each step halves the lanes that a sum lies in. The lists keep to
// shuffles of one instruction: inside 128 bits first, then whole 128-bit pieces.
#if defined(__AVX512F__)
FLASHPAD_INLINE FloatVector add_pairs(FloatVector a, FloatVector b) {
  return __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
         __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
}
FLASHPAD_INLINE FloatVector add_pieces(FloatVector a, FloatVector b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
         __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
FLASHPAD_INLINE DoubleVector add_pairs(DoubleVector a, DoubleVector b) {
  return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
         __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}
FLASHPAD_INLINE DoubleVector add_pieces(DoubleVector a, DoubleVector b) {
  return __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13) +
         __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
}
#elif defined(__AVX2__)
FLASHPAD_INLINE FloatVector add_pairs(FloatVector a, FloatVector b) {
  return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
         __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}
FLASHPAD_INLINE FloatVector add_pieces(FloatVector a, FloatVector b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}
FLASHPAD_INLINE DoubleVector add_pairs(DoubleVector a, DoubleVector b) {
  return __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
}
FLASHPAD_INLINE DoubleVector add_pieces(DoubleVector a, DoubleVector b) {
  return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}
#else
FLASHPAD_INLINE FloatVector add_pairs(FloatVector a, FloatVector b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}
FLASHPAD_INLINE DoubleVector add_pairs(DoubleVector a, DoubleVector b) {
  return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
}
// One piece is the whole vector here, and no step asks for it.
FLASHPAD_INLINE FloatVector add_pieces(FloatVector a, FloatVector) { return a; }
FLASHPAD_INLINE DoubleVector add_pieces(DoubleVector a, DoubleVector) { return a; }
#endif

/// Lane i of the result is the sum of v[i]'s lanes, for as many vectors as a vector has lanes. `step` is for
/// the function's own use. Each level has its own array, which keeps them all in registers.
template <class T, int step = 1, int count>
FLASHPAD_INLINE Vector<T> sums_of(Vector<T> const (&v)[count]) {
  static_assert(count * step == width<T>);
  if constexpr (count == 1) {
    return v[0];
  } else {
    constexpr int piece = 16 / static_cast<int>(sizeof(T));  // lanes of 128 bits: those first
    Vector<T> half[count / 2];
#pragma GCC unroll 8
    for (int i = 0; i < count / 2; ++i) {
      half[i] = step < piece ? add_pairs(v[2 * i], v[2 * i + 1]) : add_pieces(v[2 * i], v[2 * i + 1]);
    }
    return sums_of<T, 2 * step>(half);
  }
}

}  // namespace
}  // namespace flashpad::engines
