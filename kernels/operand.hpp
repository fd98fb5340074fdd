// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include <cstdint>

namespace flashpad {

/// A tensor (b, h, n, ...) as kernels see it: rows of consecutive elements, found by strides in bytes. Free
/// of Kokkos, so that kernels written against plain pointers take it too.
struct Operand {
  char* data = nullptr;
  std::int64_t stride_b = 0;
  std::int64_t stride_h = 0;
  std::int64_t stride_n = 0;

  FLASHPAD_FUNCTION char* row(std::int64_t b, std::int64_t h, std::int64_t n) const {
    return data + b * stride_b + h * stride_h + n * stride_n;
  }

  template <class T>
  FLASHPAD_FUNCTION T& element(std::int64_t b, std::int64_t h, std::int64_t n) const {
    return *reinterpret_cast<T*>(row(b, h, n));
  }
};

}  // namespace flashpad
