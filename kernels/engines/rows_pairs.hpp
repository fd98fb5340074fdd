// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/rows_parts.hpp"
#include "kernels/engines/rows_vector.hpp"

// What the engines for few query rows share that multiply pairs of bf16: V in pairs of keys, and the order of
// elements that these leave. As portable_vector.hpp, for files that are compiled once per processor level.

namespace flashpad::engines {
namespace {

constexpr int wide = 32;  // elements of one vector
FLASHPAD_INLINE __m512bh load_wide(bfloat16 const* from) { return (__m512bh)_mm512_loadu_si512(from); }

/// The first `count` elements, and zeros.
FLASHPAD_INLINE __m512bh load_some(bfloat16 const* from, int count) {
  return (__m512bh)_mm512_maskz_loadu_epi16((1u << count) - 1, from);
}

/// Two keys' elements side by side: of elements 0 to 3 of each eight, and of 4 to 7. acc keeps that order.
struct Pairs {
  __m512bh low, high;
};

FLASHPAD_INLINE Pairs pairs_of(__m512bh even, __m512bh odd) {
  return {(__m512bh)_mm512_unpacklo_epi16((__m512i)even, (__m512i)odd),
          (__m512bh)_mm512_unpackhi_epi16((__m512i)even, (__m512i)odd)};
}

template <class Storage>
void store_output(float const* acc, float sum, int dim, void* row) {
  auto* to = static_cast<Storage*>(row);
  for (int c = 0; c < dim; ++c) {
    int const at = c / wide * wide + (c % 8 < 4 ? 0 : wide / 2) + c % wide / 8 * 4 + c % 4;
    to[c] = from_float<Storage>(sum == 0 ? 0.0f : acc[at] / sum);
  }
}

}  // namespace
}  // namespace flashpad::engines
