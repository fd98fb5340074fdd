// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// Vectors of the portable engine: the compiler's own vector extension (GCC and Clang), so one source serves
// every instruction set. Included by files that are compiled once per processor level: everything here is
// inlined by force or has internal linkage, so that no function compiled for a newer processor can be the
// copy that the linker keeps for all.

#define FLASHPAD_INLINE inline __attribute__((always_inline))

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

// 2^f = sum_i coefficient[i] f^i on [-1/2, 1/2], Chebyshev fits: relative error 2.5e-9 and 4.3e-18.
template <class T>
struct Exp2;
template <>
struct Exp2<float> {
  static constexpr int terms = 7;
  static constexpr float coefficient[terms] = {1.0f,
                                               0.693147206703f,
                                               0.240226509223f,
                                               0.0555032722667f,
                                               0.00961805667852f,
                                               0.00134004281776f,
                                               0.000154614446986f};
  static constexpr float round =
      12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  static constexpr float smallest = -126.0f;  // exponent of the smallest normal number
  static constexpr int mantissa = 23;
};
template <>
struct Exp2<double> {
  static constexpr int terms = 12;
  static constexpr double coefficient[terms] = {
      0.99999999999999999693,    0.69314718055994530925,     0.24022650695910159567,
      0.055504108664821627039,   0.0096181291075872566681,   0.0013333558146406470697,
      0.00015403530463724354209, 0.000015252733841556772589, 1.3215432535912376166e-6,
      1.0178057087733941105e-7,  7.0741942972885210056e-9,   4.455817908336064493e-10};
  static constexpr double round = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double smallest = -1022.0;
  static constexpr int mantissa = 52;
};

/// exp(x) for x <= 0, within 2 + 1.5 |x| units in the last place: what |x| adds comes from rounding x *
/// log2(e), and weighs nothing in a softmax, where such terms are e^-|x| of the largest. Results below the
/// smallest normal number are flushed to zero. exp(-infinity) = 0, exp(NaN) = NaN.
template <class T>
FLASHPAD_INLINE Vector<T> exp_nonpositive(Vector<T> x) {
  using Bits = typename VectorOf<T>::Bits;
  using Fit = Exp2<T>;
  constexpr T log2_e = static_cast<T>(1.4426950408889634073599L);
  Vector<T> const power = x * log2_e;
  auto const underflow = power < Fit::smallest;
  // Comparisons with NaN are false: a NaN passes through both selections, and through the product below.
  Vector<T> const clamped = underflow ? splat<T>(Fit::smallest) : power;
  Vector<T> const rounded = clamped + Fit::round;
  Vector<T> const fraction = clamped - (rounded - Fit::round);
  Vector<T> result = splat<T>(Fit::coefficient[Fit::terms - 1]);
#pragma GCC unroll 16
  for (int i = Fit::terms - 2; i >= 0; --i) result = result * fraction + Fit::coefficient[i];
  // The integer's low bits, moved into the exponent field of one.
  Bits const exponent = (Bits)rounded << Fit::mantissa;
  Vector<T> const scale = (Vector<T>)(exponent + (Bits)splat<T>(T{1}));
  return underflow ? splat<T>(T{0}) : result * scale;
}

}  // namespace
}  // namespace flashpad::engines
