// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/elements.hpp"

#include "kokkos_ext/half.hpp"
#include "measure/parallel.hpp"

#include <atomic>
#include <cmath>
#include <cstring>

namespace flashpad::measure {

namespace {

constexpr std::int64_t rows_per_piece = 256;

// A double rounded to float and then to 16 bits can differ from one rounding: near a tie the first rounding
// lands on it. Rounding to odd in the first step keeps what the second needs to know.
float to_float_round_to_odd(double value) {
  float const nearest = static_cast<float>(value);
  double const back = nearest;
  if (back == value || std::isnan(value) || std::isinf(nearest)) return nearest;
  auto bits = detail::copy_bits<std::uint32_t>(nearest);
  if ((bits & 1u) != 0) return nearest;
  bool const away = std::fabs(back) > std::fabs(value);
  return detail::copy_bits<float>(away ? bits - 1 : bits + 1);
}

template <class T>
T read(std::byte const* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void write(std::byte* data, std::int64_t index, T value) {
  std::memcpy(data + static_cast<std::size_t>(index) * sizeof(T), &value, sizeof(T));
}

template <class Body>
void for_each_row(Extents const& extents, Layout layout, Body const& body) {
  std::array<std::int64_t, 4> const stride = strides(extents, layout);
  parallel_ranges(extents.batch * extents.heads * extents.rows, rows_per_piece,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row) {
                      std::int64_t const n = row % extents.rows;
                      std::int64_t const h = row / extents.rows % extents.heads;
                      std::int64_t const b = row / extents.rows / extents.heads;
                      body(row * extents.columns, b * stride[0] + h * stride[1] + n * stride[2]);
                    }
                  });
}

}  // namespace

Extents extents_of_q(Shape const& s) { return {s.batch, s.heads, s.seq_q, s.head_dim}; }
Extents extents_of_k(Shape const& s) { return {s.batch, s.kv_heads, s.seq_k, s.head_dim}; }
Extents extents_of_v(Shape const& s) { return {s.batch, s.kv_heads, s.seq_k, s.value_dim}; }
Extents extents_of_o(Shape const& s) { return {s.batch, s.heads, s.seq_q, s.value_dim}; }

std::array<std::int64_t, 4> strides(Extents const& e, Layout layout) {
  if (layout == Layout::bhnd) return {e.heads * e.rows * e.columns, e.rows * e.columns, e.columns, 1};
  return {e.rows * e.heads * e.columns, e.columns, e.heads * e.columns, 1};
}

double rounded(double value, DType dtype) {
  switch (dtype) {
    case DType::fp64: return value;
    case DType::fp32: return static_cast<float>(value);
    case DType::fp16: return to_float(from_float<half>(to_float_round_to_odd(value)));
    case DType::bf16: return to_float(from_float<bfloat16>(to_float_round_to_odd(value)));
  }
  return value;
}

double load(std::byte const* data, DType dtype, std::int64_t index) {
  switch (dtype) {
    case DType::fp64: return read<double>(data, index);
    case DType::fp32: return read<float>(data, index);
    case DType::fp16: return to_float(read<half>(data, index));
    case DType::bf16: return to_float(read<bfloat16>(data, index));
  }
  return 0;
}

void store(std::byte* data, DType dtype, std::int64_t index, double value) {
  switch (dtype) {
    case DType::fp64: return write(data, index, value);
    case DType::fp32: return write(data, index, static_cast<float>(value));
    case DType::fp16: return write(data, index, from_float<half>(to_float_round_to_odd(value)));
    case DType::bf16: return write(data, index, from_float<bfloat16>(to_float_round_to_odd(value)));
  }
}

std::vector<std::byte> pack(std::span<double const> values, Extents const& extents, DType dtype,
                            Layout layout) {
  std::vector<std::byte> data(static_cast<std::size_t>(extents.count() * size_of(dtype)));
  for_each_row(extents, layout, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t c = 0; c < extents.columns; ++c) {
      store(data.data(), dtype, to + c, values[static_cast<std::size_t>(from + c)]);
    }
  });
  return data;
}

std::vector<double> unpack(std::span<std::byte const> data, Extents const& extents, DType dtype,
                           Layout layout) {
  std::vector<double> values(static_cast<std::size_t>(extents.count()));
  for_each_row(extents, layout, [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t c = 0; c < extents.columns; ++c) {
      values[static_cast<std::size_t>(to + c)] = load(data.data(), dtype, from + c);
    }
  });
  return values;
}

std::int64_t first_nan(std::span<std::byte const> data, Extents const& extents, DType dtype, Layout layout) {
  std::atomic<std::int64_t> first = extents.count();
  for_each_row(extents, layout, [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t c = 0; c < extents.columns; ++c) {
      if (!std::isnan(load(data.data(), dtype, from + c))) continue;
      std::int64_t least = first.load();
      while (to + c < least && !first.compare_exchange_weak(least, to + c)) {
      }
      return;  // the row's first
    }
  });
  return first;
}

}  // namespace flashpad::measure
