// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/attention.hpp>

#include "kernels/operand.hpp"

namespace flashpad::detail {

/// Throws Error unless the arguments fit the plan: extents, element types, last stride 1, outputs that
/// overlap neither an input, nor another output, nor themselves, and the outputs that the kernel writes.
void check_arguments(Shape const& shape, DType dtype, Kernel kernel, Arguments const& arguments);

/// Whether two tensors share an element's memory. Exact where both have the same strides (views into one
/// packed buffer, with as many heads or as few as each has); otherwise it compares the ranges from the first
/// to the last byte.
bool overlap(TensorRef const& a, TensorRef const& b);

/// Whether two indices of one tensor name the same memory (a stride of 0, say).
bool overlaps_itself(TensorRef const& tensor);

inline Operand operand(TensorRef const& tensor) {
  std::int64_t const bytes = size_of(tensor.dtype);
  // The one place where an output gets its right to be written back.
  return {const_cast<char*>(static_cast<char const*>(tensor.data)), tensor.stride[0] * bytes,
          tensor.stride[1] * bytes, tensor.stride[2] * bytes};
}

}  // namespace flashpad::detail
