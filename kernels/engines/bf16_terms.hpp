// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/amx_tiles.hpp"
#include "kernels/engines/portable_move.hpp"

// Numbers as sums of bf16, and the operands that an engine makes of them. As portable_vector.hpp, for files
// that are compiled once per processor level; it takes AVX-512.

namespace flashpad::engines {
namespace {

/// Takes the upper half of x, a bf16 as it is, off x. What is left is exact, and of x's sign.
FLASHPAD_INLINE __m512 take_term(__m512& x) {
  __m512i const upper =
      _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(static_cast<int>(0xffff0000u)));
  __m512 const term = _mm512_castsi512_ps(upper);
  x = _mm512_sub_ps(x, term);
  return term;
}

/// Term `number` of x, in the upper half of each lane.
template <int number>
FLASHPAD_INLINE __m512 term_of(__m512 x) {
  for (int i = 0; i < number; ++i) take_term(x);
  return x;
}

/// The upper halves of each lane of a and b, side by side.
FLASHPAD_INLINE __m512i pair_upper(__m512 a, __m512 b) {
  return _mm512_mask_mov_epi16(_mm512_srli_epi32(_mm512_castps_si512(a), 16), 0xaaaaaaaau,
                               _mm512_castps_si512(b));
}

/// Up to 16 elements, and zeros; count may be negative.
template <class Storage>
FLASHPAD_INLINE __m512 load_some(Storage const* from, int count) {
  if (count <= 0) return _mm512_setzero_ps();
  return (__m512)load_part<float>(from, count);
}

/// Elements c to c + 31 of a row, term `number` of each, in order.
template <int number, class Storage>
FLASHPAD_INLINE __m512i row_terms(Storage const* row, int c, int dim, __m512 factor) {
  alignas(64) static constexpr std::uint16_t upper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                          23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                          45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  __m512 const low = term_of<number>(_mm512_mul_ps(load_some(row + c, dim - c), factor));
  __m512 const high = term_of<number>(_mm512_mul_ps(load_some(row + c + 16, dim - c - 16), factor));
  return _mm512_permutex2var_epi16(_mm512_castps_si512(low), _mm512_load_si512(upper),
                                   _mm512_castps_si512(high));
}

/// Whether each element is the sum of its terms: not an infinity, nor a float32 whose last term would be
/// below the smallest normal number, which tdpbf16ps takes for zero. (A NaN's are NaN; fp16 has no such small
/// numbers.)
template <class Storage>
bool have_terms(void const* storage, std::int64_t stride, int n, int dim) {
  constexpr bool wide = sizeof(Storage) == 4;
  __m512i const magnitude = wide ? _mm512_set1_epi32(0x7fffffff) : _mm512_set1_epi16(0x7fff);
  __m512i const infinite = wide ? _mm512_set1_epi32(0x7f800000) : _mm512_set1_epi16(0x7c00);
  constexpr int one = 1 << 23;  // in the exponent of a float32, whose last bit is 2^-23 of its first
  __m512i const smallest = _mm512_set1_epi32(24 * one);
  std::uint32_t found = 0;
  for (int j = 0; j < n; ++j) {
    auto const* const row = reinterpret_cast<char const*>(row_of<Storage>(storage, stride, j));
    int const bytes = dim * static_cast<int>(sizeof(Storage));
    for (int byte = 0; byte < bytes; byte += 64) {
      int const words = (bytes - byte) / 2;
      auto const here = static_cast<__mmask32>(words >= 32 ? 0xffffffffu : (1u << words) - 1u);
      __m512i const bits = _mm512_and_si512(_mm512_maskz_loadu_epi16(here, row + byte), magnitude);
      found |= wide ? _mm512_cmpeq_epi32_mask(bits, infinite) : _mm512_cmpeq_epi16_mask(bits, infinite);
      if constexpr (wide)
        found |= _mm512_mask_cmplt_epi32_mask(_mm512_test_epi32_mask(bits, bits), bits, smallest);
    }
  }
  return found == 0;
}

/// f(term) of each term, known where it is compiled.
template <int terms, int number = 0, class F>
FLASHPAD_INLINE void each_term(F const& f) {
  f.template operator()<number>();
  if constexpr (number + 1 < terms) each_term<terms, number + 1>(f);
}

/// [terms][dim / 2][block_rows][2]
template <class Storage, int terms>
void load_queries(void const* storage, std::int64_t stride, int n, int dim, float factor, void* out) {
  prefetch_for_writing(out, terms * dim * block_rows * 2);
  __m512 const by = _mm512_set1_ps(factor);
  for (int first = 0; first < block_rows; first += 16) {
    for (int c = 0; c < dim; c += group) {
      each_term<terms>([&]<int number>() __attribute__((always_inline)) {
        FloatVector square[16];
        for (int r = 0; r < 16; ++r) {
          square[r] = FloatVector{};
          if (first + r < n)
            square[r] =
                (FloatVector)row_terms<number>(row_of<Storage>(storage, stride, first + r), c, dim, by);
        }
        transpose(square);
        float* const at = static_cast<float*>(out) + (number * dim + c) / 2 * block_rows + first;
        int const pairs = dim - c < group ? (dim - c) / 2 : group / 2;
        for (int i = 0; i < pairs; ++i) store(at + i * block_rows, square[i]);
      });
    }
  }
}

/// [keys][terms][dim]
template <class Storage, int terms>
void load_keys(void const* storage, std::int64_t stride, int n, int dim, void* out) {
  auto* to = static_cast<std::uint16_t*>(out);
  __m512 const one = _mm512_set1_ps(1.0f);
  for (int j = 0; j < n; ++j) {
    Storage const* const row = row_of<Storage>(storage, stride, j);
    each_term<terms>([&]<int number>() __attribute__((always_inline)) {
      for (int c = 0; c < dim; c += group) {
        int const count = dim - c;
        auto const here = static_cast<__mmask32>(count >= group ? 0xffffffffu : (1u << count) - 1u);
        _mm512_mask_storeu_epi16(to + c, here, row_terms<number>(row, c, dim, one));
      }
      to += dim;
    });
  }
}

/// [keys / 32][terms][dim][32 keys]: element c of 32 keys is a row of operand A. Zeros stand for keys that
/// are not there.
template <class Storage, int terms>
void load_values(void const* storage, std::int64_t stride, int n, int dim, void* out) {
  auto* to = static_cast<char*>(out);
  for (int j = 0; j < n; j += group) {
    each_term<terms>([&]<int number>() __attribute__((always_inline)) {
      for (int c = 0; c < dim; c += 16) {
        auto const term = [&](int key) __attribute__((always_inline)) {
          return key < n ? term_of<number>(load_some(row_of<Storage>(storage, stride, key) + c, dim - c))
                         : _mm512_setzero_ps();
        };
        FloatVector square[16];
        FLASHPAD_EACH(16) square[i] = (FloatVector)pair_upper(term(j + 2 * i), term(j + 2 * i + 1));
        transpose(square);
        int const count = dim - c >= 16 ? 16 : 8;
        for (int i = 0; i < count; ++i) store(reinterpret_cast<float*>(to + (c + i) * tile_bytes), square[i]);
      }
      to += dim * tile_bytes;
    });
  }
}

}  // namespace
}  // namespace flashpad::engines
