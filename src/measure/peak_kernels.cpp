// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions for several instruction sets in one file: it includes no templates of the standard library, whose
// copies for a newer processor the linker could keep for everyone.
#include "measure/peak_kernels.hpp"

#include "kernels/engines/host_levels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace flashpad::measure {

namespace {

// Enough accumulators to hide the latency of two units, few enough to stay in registers.
constexpr int chains = 12;

// acc = acc * x + y settles at y / (1 - x): no overflow, no denormal, however long it runs.
constexpr double x = 0.5;
constexpr double y = 0.25;

#if defined(__x86_64__)

__attribute__((target("avx512f"))) double run_fp32_avx512(long iterations) {
  __m512 acc[chains];
  for (int c = 0; c < chains; ++c) acc[c] = _mm512_set1_ps(static_cast<float>(c));
  __m512 const vx = _mm512_set1_ps(static_cast<float>(x));
  __m512 const vy = _mm512_set1_ps(static_cast<float>(y));
  for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) acc[c] = _mm512_fmadd_ps(acc[c], vx, vy);
  }
  for (int c = 1; c < chains; ++c) acc[0] = _mm512_add_ps(acc[0], acc[c]);
  return static_cast<double>(_mm512_cvtss_f32(acc[0]));
}

__attribute__((target("avx512f"))) double run_fp64_avx512(long iterations) {
  __m512d acc[chains];
  for (int c = 0; c < chains; ++c) acc[c] = _mm512_set1_pd(c);
  __m512d const vx = _mm512_set1_pd(x);
  __m512d const vy = _mm512_set1_pd(y);
  for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) acc[c] = _mm512_fmadd_pd(acc[c], vx, vy);
  }
  for (int c = 1; c < chains; ++c) acc[0] = _mm512_add_pd(acc[0], acc[c]);
  return _mm512_cvtsd_f64(acc[0]);
}

__attribute__((target("avx512f,avx512bf16"))) double run_bf16_avx512(long iterations) {
  __m512 acc[chains];
  for (int c = 0; c < chains; ++c) acc[c] = _mm512_set1_ps(static_cast<float>(c));
  __m512bh const small = (__m512bh)_mm512_set1_epi32(0x3c003c00);  // 2^-7: sums grow slowly
  for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) acc[c] = _mm512_dpbf16_ps(acc[c], small, small);
  }
  for (int c = 1; c < chains; ++c) acc[0] = _mm512_add_ps(acc[0], acc[c]);
  return static_cast<double>(_mm512_cvtss_f32(acc[0]));
}

struct alignas(64) TileShapes {
  unsigned char palette = 1, start_row = 0, reserved[14] = {};
  unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64};
  unsigned char rows[16] = {16, 16, 16, 16, 16, 16};
};

/// An iteration is one product, which takes 16 cycles. Four sums, as its latency asks for.
__attribute__((target("amx-tile,amx-bf16"))) double run_bf16_amx(long iterations) {
  TileShapes const shapes;
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  for (long i = 0; i < iterations; i += 4) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  alignas(64) float sum[256];
  _tile_stored(0, sum, 64);
  _tile_release();
  return static_cast<double>(sum[0]);
}

__attribute__((target("avx2,fma"))) double run_fp32_avx2(long iterations) {
  __m256 acc[chains];
  for (int c = 0; c < chains; ++c) acc[c] = _mm256_set1_ps(static_cast<float>(c));
  __m256 const vx = _mm256_set1_ps(static_cast<float>(x));
  __m256 const vy = _mm256_set1_ps(static_cast<float>(y));
  for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) acc[c] = _mm256_fmadd_ps(acc[c], vx, vy);
  }
  for (int c = 1; c < chains; ++c) acc[0] = _mm256_add_ps(acc[0], acc[c]);
  return static_cast<double>(_mm256_cvtss_f32(acc[0]));
}

__attribute__((target("avx2,fma"))) double run_fp64_avx2(long iterations) {
  __m256d acc[chains];
  for (int c = 0; c < chains; ++c) acc[c] = _mm256_set1_pd(c);
  __m256d const vx = _mm256_set1_pd(x);
  __m256d const vy = _mm256_set1_pd(y);
  for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) acc[c] = _mm256_fmadd_pd(acc[c], vx, vy);
  }
  for (int c = 1; c < chains; ++c) acc[0] = _mm256_add_pd(acc[0], acc[c]);
  return _mm256_cvtsd_f64(acc[0]);
}

#endif

// Vectors of 16 bytes, which every processor worth measuring has; the compiler picks the instructions.
template <class Scalar>
double run_baseline(long iterations) {
  typedef Scalar Vector __attribute__((vector_size(16)));
  Vector acc[chains];
  for (int c = 0; c < chains; ++c) acc[c] = Vector{} + static_cast<Scalar>(c);
  Vector const vx = Vector{} + static_cast<Scalar>(x);
  Vector const vy = Vector{} + static_cast<Scalar>(y);
  for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) acc[c] = acc[c] * vx + vy;
  }
  for (int c = 1; c < chains; ++c) acc[0] += acc[c];
  return static_cast<double>(acc[0][0]);
}

}  // namespace

PeakKernel peak_kernel_fp32() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", run_fp32_avx512, chains * 16 * 2};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"avx2", run_fp32_avx2, chains * 8 * 2};
  }
#endif
  return {"baseline", run_baseline<float>, chains * 4 * 2};
}

PeakKernel peak_kernel_bf16() {
#if defined(__x86_64__)
  if (engines::has_level_amx_bf16()) return {"amx-bf16", run_bf16_amx, 16 * 16 * 32 * 2};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16")) {
    return {"avx512-bf16", run_bf16_avx512, chains * 32 * 2};
  }
#endif
  return {"", nullptr, 0};
}

PeakKernel peak_kernel_fp64() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", run_fp64_avx512, chains * 8 * 2};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"avx2", run_fp64_avx2, chains * 4 * 2};
  }
#endif
  return {"baseline", run_baseline<double>, chains * 2 * 2};
}

}  // namespace flashpad::measure
