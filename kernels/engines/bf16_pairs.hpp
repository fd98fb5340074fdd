// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/portable_move.hpp"
#include "kernels/engines/portable_softmax.hpp"

// What the engines that multiply pairs of bf16 share: Q, P and O, query rows along the lanes. As
// portable_vector.hpp, for files that are compiled once per processor level; it takes AVX-512 BF16.

namespace flashpad::engines {
namespace {

constexpr int rows = lanes<float>;

/// A vector of 16 pairs of bf16.
using Pairs = __m512i;

/// Each bf16 times 1, -1 or 0; only the last changes more than a sign, and keeps NaN (and makes it of
/// infinity).
FLASHPAD_INLINE Pairs times(Pairs pairs, float factor) {
  __m512 const by = _mm512_set1_ps(factor);
  __m512 const low = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)), by);
  __m512i const high_bits = _mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u)));
  __m512 const high = _mm512_mul_ps(_mm512_castsi512_ps(high_bits), by);
  return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(low), 16), _mm512_castps_si512(high));
}

/// The first `count` pairs, and zeros.
FLASHPAD_INLINE Pairs load_pairs(bfloat16 const* from, int count) {
  return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(count >= 16 ? 0xffffu : (1u << count) - 1u), from);
}

void load_queries(void const* storage, std::int64_t stride, int n, int dim, float factor, void* out) {
  prefetch_for_writing(out, dim * rows * 2);
  int const pairs = dim / 2;
  for (int x = 0; x < vectors; ++x) {
    int const first = x * 16;
    for (int c = 0; c < pairs; c += 16) {
      FloatVector square[16];
      auto const row = [&](int r) __attribute__((always_inline)) {
        Pairs const loaded = load_pairs(row_of<bfloat16>(storage, stride, first + r) + 2 * c, pairs - c);
        return (FloatVector)_mm512_castsi512_ps(factor == 1.0f ? loaded : times(loaded, factor));
      };
      if (first + 16 <= n) {
        FLASHPAD_EACH(16) square[i] = row(i);
      } else {
        for (int r = 0; r < 16; ++r) square[r] = first + r < n ? row(r) : FloatVector{};
      }
      transpose(square);
      float* const at = static_cast<float*>(out) + c * rows + first;
      if (c + 16 <= pairs) {
        FLASHPAD_EACH(16) store(at + i * rows, square[i]);
      } else {
        for (int i = 0; i < pairs - c; ++i) store(at + i * rows, square[i]);
      }
    }
  }
}

/// P rounded to bf16, the two keys of a pair side by side. It takes the first half of the scores' place: a
/// pair is written where none of the scores to come lie.
struct RoundP {
  FLASHPAD_INLINE static Pairs pairs_of(FloatVector even, FloatVector odd) {
    alignas(64) static constexpr std::uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                            21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                            11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    Pairs const apart = (Pairs)_mm512_cvtne2ps_pbh((__m512)odd, (__m512)even);
    return _mm512_permutexvar_epi16(_mm512_load_si512(order), apart);
  }
  FLASHPAD_INLINE static void pair(float* s, int j, FloatVector const (&p)[2 * vectors]) {
    FLASHPAD_EACH(vectors) _mm512_store_si512(s + j / 2 * rows + i * 16, pairs_of(p[i], p[vectors + i]));
  }
  FLASHPAD_INLINE static void last(float* s, int j, FloatVector const (&p)[vectors]) {
    FLASHPAD_EACH(vectors)
    _mm512_store_si512(s + j / 2 * rows + i * 16, pairs_of(p[i], splat<float>(0)));
  }
};

/// Two columns of 16 rows, rounded to bf16 (to nearest, ties to even) and side by side.
FLASHPAD_INLINE Pairs round_pair(__m512 even, __m512 odd) {
  auto const round = [](__m512 value) __attribute__((always_inline)) {
    __m512i const bits = _mm512_castps_si512(value);
    __m512i const last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i const rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), last);
    return _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), bits,
                                _mm512_set1_epi32(0x400000));
  };
  return _mm512_mask_mov_epi16(_mm512_srli_epi32(round(even), 16), 0xaaaaaaaau, round(odd));
}

/// Times the reciprocal of the sum, where float32 divides: the difference is far below bf16's rounding.
void store_output(float const* acc, float const* sum, int n, int dim, void* storage, std::int64_t stride) {
  for (int r = 0; r < n; ++r) {
    prefetch_for_writing(static_cast<char*>(storage) + r * stride, dim * 2);
  }
  int const pairs = dim / 2;
  for (int first = 0; first < n; first += 16) {
    __m512 const divisor = _mm512_load_ps(sum + first);
    __mmask16 const seen = _mm512_cmp_ps_mask(divisor, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    __m512 const inverse = _mm512_div_ps(_mm512_set1_ps(1.0f), divisor);
    for (int c = 0; c < pairs; c += 16) {
      FloatVector square[16];
      FLASHPAD_EACH(16) {
        float const* const at = acc + 2 * (c + i < pairs ? c + i : c) * rows + first;
        __m512 const even = _mm512_maskz_mul_ps(seen, _mm512_load_ps(at), inverse);
        __m512 const odd = _mm512_maskz_mul_ps(seen, _mm512_load_ps(at + rows), inverse);
        square[i] = (FloatVector)_mm512_castsi512_ps(round_pair(even, odd));
      }
      transpose(square);
      int const here = pairs - c < 16 ? pairs - c : 16;
      for (int r = 0; r < 16 && first + r < n; ++r) {
        char* const row = static_cast<char*>(storage) + (first + r) * stride;
        _mm512_mask_storeu_epi32(row + 4 * c, static_cast<__mmask16>((1u << here) - 1u), (__m512i)square[r]);
      }
    }
  }
}

}  // namespace
}  // namespace flashpad::engines
