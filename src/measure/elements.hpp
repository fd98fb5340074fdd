// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/types.hpp>

#include "experiment/experiment.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Between the driver's own copy of a tensor (float64, contiguous b, h, n, d) and the bytes that a kernel
// sees.

namespace flashpad::measure {

/// Logical sizes of one tensor, whatever its layout: batch, heads, rows, columns.
struct Extents {
  std::int64_t batch = 0, heads = 0, rows = 0, columns = 0;

  [[nodiscard]] std::int64_t count() const { return batch * heads * rows * columns; }
};

Extents extents_of_q(Shape const& shape);
Extents extents_of_k(Shape const& shape);
Extents extents_of_v(Shape const& shape);
Extents extents_of_o(Shape const& shape);

/// Strides in elements of (b, h, n, c) in a compact tensor of that layout.
std::array<std::int64_t, 4> strides(Extents const& extents, Layout layout);

/// The nearest value that the type can hold, ties to even.
double rounded(double value, DType dtype);

double load(std::byte const* data, DType dtype, std::int64_t index);
void store(std::byte* data, DType dtype, std::int64_t index, double value);

/// values[b][h][n][c] as a compact tensor.
std::vector<std::byte> pack(std::span<double const> values, Extents const& extents, DType dtype,
                            Layout layout);

/// A compact tensor as values[b][h][n][c].
std::vector<double> unpack(std::span<std::byte const> data, Extents const& extents, DType dtype,
                           Layout layout);

/// Where the first NaN of values[b][h][n][c] is, extents.count() where there is none; nothing is copied.
std::int64_t first_nan(std::span<std::byte const> data, Extents const& extents, DType dtype, Layout layout);

}  // namespace flashpad::measure
