// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

#include "kernels/softmax_math.hpp"
#include "kokkos_ext/half.hpp"

#include <type_traits>

namespace flashpad::kokkos_ext {

/// to_float by an NVIDIA GPU's own instruction: the bit arithmetic of the general one takes longer than
/// memory.
template <class Storage>
KOKKOS_FUNCTION auto widened(Storage value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Storage, half>) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
  } else
#endif
  {
    return to_float(value);
  }
}

/// from_float likewise; the same results, but for a NaN's payload.
template <class Storage, class T>
KOKKOS_FUNCTION Storage narrowed(T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Storage, half>) {
    half result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
#if __CUDA_ARCH__ >= 800
  else if constexpr (std::is_same_v<Storage, bfloat16>) {
    bfloat16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
#endif
  else
#endif
  {
    return from_float<Storage>(value);
  }
}

/// exp(x) of a float to 2 units in the last place, denormals flushed; of a double as the library has it.
template <class T>
KOKKOS_FUNCTION T quick_exp(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * 1.4426950408889634f));
    return result;
  } else
#endif
  {
    return exp_of(x);
  }
}

}  // namespace flashpad::kokkos_ext
