// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

#include "kernels/softmax_math.hpp"
#include "kokkos_ext/half.hpp"

#include <cstdint>
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

/// Two neighbours in memory at once: half the instructions of one after the other.
template <class Storage>
KOKKOS_FUNCTION void widen_pair(std::uint32_t pair, float& first, float& second) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Storage, half>) {
    asm("{\n"
        ".reg .b16 first, second;\n"
        "mov.b32 {first, second}, %2;\n"
        "cvt.f32.f16 %0, first;\n"
        "cvt.f32.f16 %1, second;\n"
        "}\n"
        : "=f"(first), "=f"(second)
        : "r"(pair));
    return;
  }
#endif
  first = to_float(Storage{static_cast<std::uint16_t>(pair)});
  second = to_float(Storage{static_cast<std::uint16_t>(pair >> 16)});
}

template <class Storage>
KOKKOS_FUNCTION std::uint32_t narrow_pair(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;
  if constexpr (std::is_same_v<Storage, half>) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  }
  return pair;
#else
  return narrowed<Storage>(first).bits | static_cast<std::uint32_t>(narrowed<Storage>(second).bits) << 16;
#endif
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
