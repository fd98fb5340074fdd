// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/params.hpp"
#include "kernels/hopper/ptx.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cfloat>

// Online softmax over tiles of scores in registers, two query rows a thread (wgmma.hpp has the layout). Keys
// is the number of the tile's columns that are looked at.

namespace flashpad::hopper {

inline __device__ std::uint32_t pack(float low, float high, __half*) {
  __half2 const pair = __floats2half2_rn(low, high);
  return reinterpret_cast<std::uint32_t const&>(pair);
}
inline __device__ std::uint32_t pack(float low, float high, __nv_bfloat16*) {
  __nv_bfloat162 const pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<std::uint32_t const&>(pair);
}

/// 2^8 as the bits of one element.
inline __device__ constexpr int bits_of_256(__half*) { return 0x5c00; }
inline __device__ constexpr int bits_of_256(__nv_bfloat16*) { return 0x4380; }

/// Hides what the band hides, and the keys past the last. `diagonal` is the key that each row is aligned
/// with, `keys` the number of keys, both counted from the tile's first.
template <int Keys, int N>
__device__ void mask_scores(float (&s)[N], HopperBand const& band, int const (&diagonal)[2], int keys) {
  int const lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int const low = band.left < 0 ? 0 : diagonal[half] - band.left;
    int const high = band.right < 0 ? keys - 1 : min(keys - 1, diagonal[half] + band.right);
#pragma unroll
    for (int j = 0; j < Keys / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        int const key = j * 8 + lane % 4 * 2 + e;
        if (key < low || key > high) s[4 * j + 2 * half + e] = -INFINITY;
      }
    }
  }
}

/// Of a thread's two rows: what probabilities are relative to, in powers of two, and the sum of this
/// thread's.
///
/// P = 2^(s * scale - reference) is one multiply-add and so has the rounding of the reference in it. That
/// cancels in the division, but from 2^27 on it can be more than 8. References are rounded down, so that it
/// is then seen as a maximum that has grown; and where raising the reference does not help, products are
/// rounded by themselves, in which equals cancel.
///
/// -FLT_MAX is a reference and no sentinel: a finite score is never 8 below it, and -infinity gives P = 0.
struct Softmax {
  float reference[2], sum[2];

  __device__ void reset() {
    reference[0] = reference[1] = -FLT_MAX;
    sum[0] = sum[1] = 0;
  }

  /// Probabilities relative to the reference there is, rounded, without waiting for the maximum of these
  /// scores. False where it turns out that a maximum of the warp has grown by more than 2^8: then nothing is
  /// done, and `update` must be called. Up to there the reference serves: 2^8 is far from the end of any
  /// 16-bit type, rounding is relative, and the last division makes up for it.
  template <class Element, int Keys, int N>
  __device__ bool speculate(float const (&s)[N], float scale_log2, std::uint32_t (&to)[N / 2]) {
    // Probabilities are not negative, and so the largest has the largest bits: one instruction looks at four,
    // where the maximum of the scores takes four. A NaN is larger than all: a tile in which one is seen is
    // done again, for nothing; every tile, where the NaN is the query's.
    static_assert(Keys % 16 == 0);
    std::uint32_t top = 0;
    float total[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      total[half] = 0;
#pragma unroll
      for (int j = 0; j < Keys / 8; ++j) {
        float const s0 = s[4 * j + 2 * half], s1 = s[4 * j + 2 * half + 1];
        float const p0 = exp2_approx(fmaf(s0, scale_log2, -reference[half]));
        float const p1 = exp2_approx(fmaf(s1, scale_log2, -reference[half]));
        to[2 * j + half] = pack(p0, p1, static_cast<Element*>(nullptr));
        total[half] += p0 + p1;
        if (j % 2 == 1) top = __vimax3_s16x2(top, to[2 * j - 2 + half], to[2 * j + half]);
      }
    }
    constexpr int limit = bits_of_256(static_cast<Element*>(nullptr));
    bool const grown = static_cast<std::int16_t>(top) > limit || static_cast<std::int32_t>(top) >> 16 > limit;
    if (__any_sync(0xffffffffu, grown)) return false;
    sum[0] += total[0];
    sum[1] += total[1];
    return true;
  }

  /// Scores to probabilities, in place, relative to their own maximum; `alpha` takes the factors of what was
  /// summed before.
  template <int Keys, int N>
  __device__ void update(float (&s)[N], float scale_log2, float (&alpha)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = -INFINITY;
#pragma unroll
      for (int j = 0; j < Keys / 8; ++j) {
        most = fmaxf(most, fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1]));
      }
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      float const raised = fmaxf(reference[half], __fmul_rd(most, scale_log2));
      alpha[half] = exp2_approx(reference[half] - raised);
      reference[half] = raised;
      float scale = scale_log2, subtracted = raised;
      if (fmaf(most, scale_log2, -raised) > 8) {
#pragma unroll
        for (int j = 0; j < Keys / 8; ++j) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& score = s[4 * j + 2 * half + e];
            score = __fmul_rd(score, scale_log2) - raised;
          }
        }
        scale = 1;
        subtracted = 0;
      }
      float total = 0;
#pragma unroll
      for (int j = 0; j < Keys / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& score = s[4 * j + 2 * half + e];
          score = exp2_approx(fmaf(score, scale, -subtracted));
          total += score;
        }
      }
      sum[half] = sum[half] * alpha[half] + total;
    }
  }

  /// Joins the sums of the four threads of a row. Gives 1 / sum, 0 for a row that saw no key.
  __device__ void close(float (&inverse)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sum[half] += __shfl_xor_sync(0xffffffffu, sum[half], 1);
      sum[half] += __shfl_xor_sync(0xffffffffu, sum[half], 2);
      inverse[half] = sum[half] == 0 ? 0.0f : reciprocal_approx(sum[half]);
    }
  }

  /// The log-sum-exp of a row, of sums that are joined.
  __device__ float lse(int half) const {
    constexpr float ln_2 = 0.693147180559945309f;
    return sum[half] == 0 ? -INFINITY : (reference[half] + log2_approx(sum[half])) * ln_2;
  }
};

/// Probabilities as the first operand of the second product.
template <class Element, int Keys, int N>
__device__ void round_probabilities(float const (&s)[N], std::uint32_t (&to)[N / 2]) {
#pragma unroll
  for (int j = 0; j < Keys / 8; ++j) {
    to[2 * j] = pack(s[4 * j], s[4 * j + 1], static_cast<Element*>(nullptr));
    to[2 * j + 1] = pack(s[4 * j + 2], s[4 * j + 3], static_cast<Element*>(nullptr));
  }
}

/// Multiplies both rows of an accumulator by their factors.
template <int N>
__device__ void rescale(float (&o)[N], float const (&alpha)[2]) {
#pragma unroll
  for (int j = 0; j < N / 4; ++j) {
    o[4 * j] *= alpha[0];
    o[4 * j + 1] *= alpha[0];
    o[4 * j + 2] *= alpha[1];
    o[4 * j + 3] *= alpha[1];
  }
}

}  // namespace flashpad::hopper
