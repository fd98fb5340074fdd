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

/// 1 / times of a vector from memory, so many times side by side.
template <class T, int times>
FLASHPAD_INLINE Vector<T> broadcast_part(void const* from) {
  constexpr int bytes = vector_bytes / times;
  if constexpr (times == 1) {
    return load_unaligned(static_cast<T const*>(from));
  } else if constexpr (bytes == sizeof(T)) {
    return splat<T>(*static_cast<T const*>(from));
#if defined(__AVX512F__)
  } else if constexpr (bytes == 32) {
    return (Vector<T>)_mm512_broadcast_f64x4(_mm256_loadu_pd(static_cast<double const*>(from)));
  } else if constexpr (bytes == 16) {
    return (Vector<T>)_mm512_broadcast_f32x4(_mm_loadu_ps(static_cast<float const*>(from)));
#elif defined(__AVX2__)
  } else if constexpr (bytes == 16) {
    return (Vector<T>)_mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<__m128i const*>(from)));
#endif
  } else {
    static_assert(bytes == 8);
    double whole;
    __builtin_memcpy(&whole, from, sizeof(whole));
    return (Vector<T>)splat<double>(whole);
  }
}

/// Lane i gets lane Order::at(i) of v.
template <class Order, class V>
FLASHPAD_INLINE V shuffle(V v) {
  using O = Order;
  constexpr int n = sizeof(V) / sizeof(v[0]);
  if constexpr (n == 16) {
    return __builtin_shufflevector(v, v, O::at(0), O::at(1), O::at(2), O::at(3), O::at(4), O::at(5), O::at(6),
                                   O::at(7), O::at(8), O::at(9), O::at(10), O::at(11), O::at(12), O::at(13),
                                   O::at(14), O::at(15));
  } else if constexpr (n == 8) {
    return __builtin_shufflevector(v, v, O::at(0), O::at(1), O::at(2), O::at(3), O::at(4), O::at(5), O::at(6),
                                   O::at(7));
  } else if constexpr (n == 4) {
    return __builtin_shufflevector(v, v, O::at(0), O::at(1), O::at(2), O::at(3));
  } else {
    return __builtin_shufflevector(v, v, O::at(0), O::at(1));
  }
}

/// What lies `step` further of n, round about.
template <int step, int n>
struct Rotated {
  static constexpr int at(int i) { return (i + step) % n; }
};

/// The lanes [first, first + count), over and over.
template <int first, int count>
struct Repeated {
  static constexpr int at(int i) { return first + i % count; }
};

}  // namespace
}  // namespace flashpad::engines
