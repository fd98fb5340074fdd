// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Functions that run on the host and on a device. This header, and all that use only it, include no
// Kokkos: the portable kernel, kernels written against plain pointers, the byte model and the tests
// share them.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define FLASHPAD_FUNCTION __host__ __device__ inline
#else
#define FLASHPAD_FUNCTION inline
#endif

// Before a loop of device code: to unroll it, so that arrays are registers; or to keep it, where the body is
// long. The host's compiler knows neither.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define FLASHPAD_UNROLL _Pragma("unroll")
#define FLASHPAD_KEEP_LOOP _Pragma("unroll 1")
#else
#define FLASHPAD_UNROLL
#define FLASHPAD_KEEP_LOOP
#endif

// The library is built with hidden symbols; what a user may link against says so.
#if defined(__GNUC__) || defined(__clang__)
#define FLASHPAD_EXPORT __attribute__((visibility("default")))
#else
#define FLASHPAD_EXPORT
#endif
