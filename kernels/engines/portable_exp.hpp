// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/portable_vector.hpp"

// The exponential of softmax, for vectors of float and double. As portable_vector.hpp, included by files that
// are compiled once per processor level.

namespace flashpad::engines {
namespace {

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

/// x = exp(scale * x) for `count` vectors of x <= 0, within 2 + 1.5 |scale x| units in the last place: what
/// |x| adds comes from rounding scale * log2(e) * x, and weighs nothing in a softmax, where such terms are
/// e^-|x| of the largest. Results below the smallest normal number are flushed to zero. exp(-infinity) = 0,
/// exp(NaN) = NaN.
///
/// Step by step over all vectors, in the order of the source: then one vector's latency hides behind
/// another's without the processor holding the whole of both in its queues (Zen 5: 10 % faster than one after
/// the other).
template <class T, int count>
FLASHPAD_INLINE void exp_nonpositive(Vector<T> (&x)[count], T scale) {
  using Bits = typename VectorOf<T>::Bits;
  using Fit = Exp2<T>;
  T const factor = scale * static_cast<T>(1.4426950408889634073599L);
  Vector<T> power[count], rounded[count], result[count];
  FLASHPAD_EACH(count) power[i] = x[i] * factor;
  // Comparisons with NaN are false: a NaN passes through both selections, and through the product below.
  FLASHPAD_EACH(count) x[i] = power[i] < Fit::smallest ? splat<T>(Fit::smallest) : power[i];
  FLASHPAD_EACH(count) rounded[i] = x[i] + Fit::round;
  FLASHPAD_EACH(count) x[i] = x[i] - (rounded[i] - Fit::round);
  FLASHPAD_EACH(count) result[i] = splat<T>(Fit::coefficient[Fit::terms - 1]);
#pragma GCC unroll 16
  for (int term = Fit::terms - 2; term >= 0; --term) {
    FLASHPAD_EACH(count) result[i] = result[i] * x[i] + Fit::coefficient[term];
  }
  // The integer's low bits, moved into the exponent field of one.
  FLASHPAD_EACH(count)
  result[i] *= (Vector<T>)(((Bits)rounded[i] << Fit::mantissa) + (Bits)splat<T>(T{1}));
  FLASHPAD_EACH(count) x[i] = power[i] < Fit::smallest ? splat<T>(T{0}) : result[i];
}

#if defined(__AVX512F__)

// 2^(i/32) for i = 0..31 as bits, less i << 18: adding (32 n + i) << 18 gives the bits of 2^(n + i/32).
alignas(64) constexpr std::uint32_t exp2_table[32] = {
    0x3f800000, 0x3f7ecd87, 0x3f7daac3, 0x3f7c980f, 0x3f7b95c2, 0x3f7aa43a, 0x3f79c3d3, 0x3f78f4f0,
    0x3f7837f0, 0x3f778d3a, 0x3f76f532, 0x3f767043, 0x3f75fed7, 0x3f75a15b, 0x3f75583f, 0x3f7523f6,
    0x3f7504f3, 0x3f74fbaf, 0x3f7508a4, 0x3f752c4d, 0x3f75672a, 0x3f75b9be, 0x3f76248c, 0x3f76a81e,
    0x3f7744fd, 0x3f77fbb8, 0x3f78ccdf, 0x3f79b907, 0x3f7ac0c7, 0x3f7be4ba, 0x3f7d257d, 0x3f7e83b3};

/// The same in 11 instructions with AVX-512, whose permutations look 32 numbers up in two registers: 2^t =
/// 2^(k/32) 2^f with |f| <= 1/64, where 1 + c1 f + c2 f^2 is within 5.3e-8. Zen 5 takes 3.7 cycles for 16
/// elements, 4.2 for a polynomial of degree 5 with vreduceps and vscalefps, each three operations there,
/// and 4.6 for one with the exponent added as an integer.
template <int count>
FLASHPAD_INLINE void exp_nonpositive(FloatVector (&x)[count], float scale) {
  constexpr float far = 3.4028235e38f;
  float const factor = scale * 1.44269504f;
  float const limit = -126.0f / factor;
  __m512 const multiplier = _mm512_set1_ps(factor);
  __m512 const smallest = _mm512_set1_ps(limit > -far ? limit : -far);
  __m512 const round = _mm512_set1_ps(393216.0f);  // 1.5 * 2^18: the last place of the sum is 1/32
  __m512 const c1 = _mm512_set1_ps(0.69315733f);
  __m512 const c2 = _mm512_set1_ps(0.240226497f);
  __m512 const low = _mm512_load_ps(exp2_table);
  __m512 const high = _mm512_load_ps(exp2_table + 16);
  __m512 f[count], power[count];
  __m512i k[count];
  __mmask16 normal[count];
  FLASHPAD_EACH(count) power[i] = _mm512_fmadd_ps((__m512)x[i], multiplier, round);
  FLASHPAD_EACH(count) k[i] = _mm512_castps_si512(power[i]);
  FLASHPAD_EACH(count) power[i] = _mm512_sub_ps(power[i], round);
  FLASHPAD_EACH(count) f[i] = _mm512_fmsub_ps((__m512)x[i], multiplier, power[i]);
  // Not less than: true for NaN, which then passes through all that follows.
  FLASHPAD_EACH(count) normal[i] = _mm512_cmp_ps_mask((__m512)x[i], smallest, _CMP_NLT_UQ);
  FLASHPAD_EACH(count) power[i] = _mm512_permutex2var_ps(low, k[i], high);
  FLASHPAD_EACH(count) k[i] = _mm512_slli_epi32(k[i], 18);
  FLASHPAD_EACH(count)
  power[i] = _mm512_castsi512_ps(_mm512_add_epi32(k[i], _mm512_castps_si512(power[i])));
  __m512 g[count];
  FLASHPAD_EACH(count) g[i] = _mm512_mul_ps(f[i], _mm512_fmadd_ps(f[i], c2, c1));
  FLASHPAD_EACH(count) x[i] = (FloatVector)_mm512_maskz_fmadd_ps(normal[i], power[i], g[i], power[i]);
}

#endif

}  // namespace
}  // namespace flashpad::engines
