// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>
#include <flashpad/types.hpp>

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define FLASHPAD_FORCEINLINE __host__ __device__ inline __attribute__((always_inline))
#else
// Always inlined: engine files are compiled once per instruction set, and an out-of-line copy of one of
// these, compiled for a newer processor, could be the one that the linker keeps for everyone.
#define FLASHPAD_FORCEINLINE inline __attribute__((always_inline))
#endif

namespace flashpad {

namespace detail {

template <class To, class From>
FLASHPAD_FORCEINLINE To copy_bits(From const& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace detail

FLASHPAD_FORCEINLINE float to_float(bfloat16 value) {
  return detail::copy_bits<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Exact, denormals, infinities and NaN included. An exponent field of 1 to 30 needs a new bias (127 - 15);
/// multiplying by 2^112 does that and normalises denormals in the same stroke.
FLASHPAD_FORCEINLINE float to_float(half value) {
  std::uint32_t const sign = (static_cast<std::uint32_t>(value.bits) & 0x8000u) << 16;
  std::uint32_t const rest = static_cast<std::uint32_t>(value.bits) & 0x7fffu;
  float const scaled = detail::copy_bits<float>(rest << 13) * 0x1p112f;
  std::uint32_t const bits =
      rest >= 0x7c00u ? (rest << 13) | 0x7f800000u : detail::copy_bits<std::uint32_t>(scaled);
  return detail::copy_bits<float>(bits | sign);
}

FLASHPAD_FORCEINLINE float to_float(float value) { return value; }
FLASHPAD_FORCEINLINE double to_float(double value) { return value; }

// For the device as well, like what specialises them: Clang takes no other kind of specialisation.
template <class T>
FLASHPAD_FORCEINLINE T from_float(float value);

template <class T>
FLASHPAD_FORCEINLINE T from_float(double value);

/// Round to nearest, ties to even; NaN stays a (quiet) NaN.
template <>
FLASHPAD_FORCEINLINE bfloat16 from_float<bfloat16>(float value) {
  auto const bits = detail::copy_bits<std::uint32_t>(value);
  std::uint32_t const rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  bool const nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40u : rounded)};
}

/// Round to nearest, ties to even; overflow gives infinity, NaN stays a (quiet) NaN.
template <>
FLASHPAD_FORCEINLINE half from_float<half>(float value) {
  auto const bits = detail::copy_bits<std::uint32_t>(value);
  std::uint32_t const sign = (bits >> 16) & 0x8000u;
  std::uint32_t const rest = bits & 0x7fffffffu;
  std::uint32_t result = 0;
  if (rest > 0x7f800000u) {
    result = 0x7e00u;
  } else if (rest >= 0x477ff000u) {  // 65520 and above round to infinity
    result = 0x7c00u;
  } else if (rest < 0x38800000u) {  // below 2^-14: a denormal; adding 0.5 lets the hardware round at 2^-24
    float const shifted = detail::copy_bits<float>(rest) + 0.5f;
    result = detail::copy_bits<std::uint32_t>(shifted) - 0x3f000000u;
  } else {
    result = (rest - 0x38000000u + 0x0fffu + ((rest >> 13) & 1u)) >> 13;
  }
  return {static_cast<std::uint16_t>(result | sign)};
}

template <>
FLASHPAD_FORCEINLINE float from_float<float>(float value) {
  return value;
}
template <>
FLASHPAD_FORCEINLINE double from_float<double>(double value) {
  return value;
}

}  // namespace flashpad
