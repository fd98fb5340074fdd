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

// The library is built with hidden symbols; what a user may link against says so.
#if defined(__GNUC__) || defined(__clang__)
#define FLASHPAD_EXPORT __attribute__((visibility("default")))
#else
#define FLASHPAD_EXPORT
#endif
