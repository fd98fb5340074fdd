// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include <cstdint>
#include <string_view>

namespace flashpad {

/// IEEE binary16 as storage. Kokkos's own half_t is a float where no device has one, which would make
/// every byte count wrong by two, so the 16-bit types are ours. Arithmetic happens in float.
struct half {
  std::uint16_t bits;
};

/// bfloat16 as storage: the upper half of a float32.
struct bfloat16 {
  std::uint16_t bits;
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2);

/// Element type of Q, K, V and O.
enum class DType : std::uint8_t { fp64, fp32, fp16, bf16 };

/// Bytes of one element.
constexpr int size_of(DType dtype) noexcept {
  return dtype == DType::fp64 ? 8 : dtype == DType::fp32 ? 4 : 2;
}

/// The name used in experiments and reports: fp64, fp32, fp16, bf16.
constexpr std::string_view name(DType dtype) noexcept {
  switch (dtype) {
    case DType::fp64: return "fp64";
    case DType::fp32: return "fp32";
    case DType::fp16: return "fp16";
    case DType::bf16: return "bf16";
  }
  return "?";
}

/// Maps an element type of a View to its DType. Specialise it for a type with the same bits as one of
/// ours (a device's own half, say) to pass Views of that type.
template <class T>
struct dtype_of;
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::fp64;
};
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::fp32;
};
template <>
struct dtype_of<half> {
  static constexpr DType value = DType::fp16;
};
template <>
struct dtype_of<bfloat16> {
  static constexpr DType value = DType::bf16;
};

}  // namespace flashpad
