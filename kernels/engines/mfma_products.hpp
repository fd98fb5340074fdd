// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mfma_wave.hpp"
#include "kokkos_ext/half.hpp"

#include <type_traits>

namespace flashpad::engines {

/// Products of fp16 or bf16 in float32 on a wavefront: 8 columns of A and rows of B at a time, of which a
/// lane holds those numbered 4 h to 4 h + 3 (h = lane / 32), two to a word.
template <class Wave, class T>
struct MfmaProducts {
  using Acc = typename Wave::Acc;
  static constexpr bool fp16 = std::is_same_v<T, half>;

  /// gfx908 multiplies bf16 by pairs: its product takes columns 2 h and 2 h + 1 of a lane, so that two of
  /// them, of the lower and of the upper pairs, are the 8 columns in another order. A and B agree on it.
  FLASHPAD_FUNCTION static void multiply(Acc& d, std::uint32_t const (&a)[2], std::uint32_t const (&b)[2]) {
    if constexpr (fp16) {
      Wave::mfma_fp16(d, a, b);
    } else if constexpr (Wave::bf16_1k) {
      Wave::mfma_bf16_1k(d, a, b);
    } else {
      Wave::mfma_bf16(d, a[0], b[0]);
      Wave::mfma_bf16(d, a[1], b[1]);
    }
  }

  /// Two floats to a pair of T, to nearest even.
  FLASHPAD_FUNCTION static std::uint32_t pack(float low, float high) {
    if constexpr (fp16) {
      return Wave::pack_fp16(low, high);
    } else {
      return from_float<bfloat16>(low).bits | static_cast<std::uint32_t>(from_float<bfloat16>(high).bits)
                                                  << 16;
    }
  }

  /// A pair of elements times 1, -1 or 0: exact, and 0 times NaN or infinity is NaN.
  FLASHPAD_FUNCTION static std::uint32_t scaled(std::uint32_t pair, float factor) {
    T const low{static_cast<std::uint16_t>(pair)};
    T const high{static_cast<std::uint16_t>(pair >> 16)};
    return pack(to_float(low) * factor, to_float(high) * factor);
  }

  /// Elements that have their natural alignment alone.
  template <int Words>
  FLASHPAD_FUNCTION static void load_elements(std::uint32_t (&words)[Words], char const* from) {
    FLASHPAD_UNROLL
    for (int i = 0; i < Words; ++i)
      words[i] = Wave::load_global_element(from + 4 * i) | Wave::load_global_element(from + 4 * i + 2) << 16;
  }
  template <int Words>
  FLASHPAD_FUNCTION static void store_elements(char* to, std::uint32_t const (&words)[Words]) {
    FLASHPAD_UNROLL
    for (int i = 0; i < Words; ++i) {
      Wave::store_global_element(to + 4 * i, words[i]);
      Wave::store_global_element(to + 4 * i + 2, words[i] >> 16);
    }
  }
};

}  // namespace flashpad::engines
