// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/inputs.hpp"

#include <flashpad/error.hpp>

#include "measure/elements.hpp"
#include "measure/parallel.hpp"
#include "tensor_file/npy.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <span>
#include <utility>

namespace flashpad::measure {

namespace {

constexpr std::int64_t elements_per_piece = 1 << 16;

// Counter-based: scrambles a counter into 64 bits that pass for random (the finaliser of splitmix64).
std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t bits_at(std::uint64_t seed, Tensor tensor, std::uint64_t counter) {
  std::uint64_t const stream = scramble(seed * 4 + static_cast<std::uint64_t>(tensor) + 0x9e3779b97f4a7c15u);
  return scramble(stream + 0x9e3779b97f4a7c15u * (counter + 1));
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }  // [0, 1)

double normal_at(std::uint64_t seed, Tensor tensor, std::uint64_t index) {
  double const u = 1.0 - unit(bits_at(seed, tensor, 2 * index));  // (0, 1]: its logarithm is finite
  double const angle = 2 * std::numbers::pi * unit(bits_at(seed, tensor, 2 * index + 1));
  return std::sqrt(-2 * std::log(u)) * std::cos(angle);
}

std::vector<double> generate(Case const& one, Tensor tensor, Extents const& extents) {
  std::vector<double> values(static_cast<std::size_t>(extents.count()));
  parallel_ranges(extents.count(), elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t const row = i / extents.columns % extents.rows;
      double const value = generated(one.distribution, one.seed, tensor, static_cast<std::uint64_t>(i), row);
      values[static_cast<std::size_t>(i)] = rounded(value, one.dtype);
    }
  });
  return values;
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::fp64: return std::numeric_limits<double>::max();
    case DType::fp32: return std::numeric_limits<float>::max();
    case DType::fp16: return 65504;
    case DType::bf16: return 0x1.fep127;
  }
  return 0;
}

std::vector<std::int64_t> index_in(std::vector<std::int64_t> const& shape, std::int64_t at) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; at /= shape[axis]) index[axis] = at % shape[axis];
  return index;
}

// Elements from `first` on, of a file of this shape and type, in another type.
void require_range(std::filesystem::path const& file, std::vector<std::int64_t> const& shape, DType from,
                   DType to, std::int64_t first, std::span<std::byte const> data) {
  std::int64_t const count = static_cast<std::int64_t>(data.size()) / size_of(from);
  std::atomic<std::int64_t> lost = count;
  parallel_ranges(count, elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double const value = load(data.data(), from, i);
      if (!std::isfinite(value) || std::isfinite(rounded(value, to))) continue;
      std::int64_t least = lost.load();
      while (i < least && !lost.compare_exchange_weak(least, i)) {
      }
      return;  // the piece's first
    }
  });
  if (lost == count) return;
  throw Error(fmt::format(
      "{}: element {} is {:.9g}, which becomes infinity in {}; allowed: finite numbers up to {:.9g}, or "
      "another problem.dtype",
      file.string(), shape_text(index_in(shape, first + lost)), load(data.data(), from, lost), name(to),
      largest(to)));
}

std::vector<double> read(Case const& one, std::filesystem::path const& file, Extents const& extents,
                         std::string& converted) {
  NpyArray const array = read_npy(file, 4);
  std::vector<std::int64_t> const expected =
      one.layout == Layout::bhnd
          ? std::vector<std::int64_t>{extents.batch, extents.heads, extents.rows, extents.columns}
          : std::vector<std::int64_t>{extents.batch, extents.rows, extents.heads, extents.columns};
  if (array.shape != expected) {  // the file changed after the experiment was checked
    throw Error(fmt::format("{}: shape {} is not the {} that the experiment was checked with", file.string(),
                            shape_text(array.shape), shape_text(expected)));
  }
  if (array.dtype != one.dtype) {
    converted =
        fmt::format("inputs converted from {} in the files to {}", name(array.dtype), name(one.dtype));
    require_range(file, array.shape, array.dtype, one.dtype, 0, array.data);
  }
  std::vector<double> values = unpack(array.data, extents, array.dtype, one.layout);
  parallel_ranges(extents.count(), elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double& value = values[static_cast<std::size_t>(i)];
      value = rounded(value, one.dtype);
    }
  });
  return values;
}

bool all_finite(std::vector<double> const& values) {
  std::atomic<bool> finite{true};
  parallel_ranges(static_cast<std::int64_t>(values.size()), elements_per_piece,
                  [&](std::int64_t begin, std::int64_t end) {
                    double sum = 0;  // 0 * x is 0 for a finite x and NaN for the others
                    for (std::int64_t i = begin; i < end; ++i) sum += 0 * values[static_cast<std::size_t>(i)];
                    if (!(sum == 0)) finite = false;
                  });
  return finite;
}

}  // namespace

double generated(Distribution distribution, std::uint64_t seed, Tensor tensor, std::uint64_t index,
                 std::int64_t row) {
  static constexpr double magnitudes[] = {0.25, 1, 4, 0.5, 8, 2};
  switch (distribution) {
    case Distribution::normal: return normal_at(seed, tensor, index);
    case Distribution::uniform: return 2 * unit(bits_at(seed, tensor, index)) - 1;
    case Distribution::unbalanced: {
      double const value = normal_at(seed, tensor, index);
      return tensor == Tensor::k ? value * magnitudes[row / 32 % 6] : value;
    }
    case Distribution::constant: return 0.5;
  }
  return 0;
}

void require_range(std::vector<Case> const& cases) {
  std::set<std::pair<std::filesystem::path, DType>> seen;
  for (Case const& one : cases) {
    if (!one.tensors) continue;
    for (auto const& file : {one.tensors->q, one.tensors->k, one.tensors->v}) {
      if (!seen.emplace(file, one.dtype).second) continue;
      if (largest(read_npy_header(file).dtype) <= largest(one.dtype)) continue;
      for_each_npy_piece(file, 4,
                         [&](NpyHeader const& header, std::int64_t first, std::span<std::byte const> data) {
                           require_range(file, header.shape, header.dtype, one.dtype, first, data);
                         });
    }
  }
}

Inputs make_inputs(Case const& one) {
  Inputs inputs;
  Shape const& shape = one.shape;
  if (one.tensors) {
    inputs.q = read(one, one.tensors->q, extents_of_q(shape), inputs.converted);
    inputs.k = read(one, one.tensors->k, extents_of_k(shape), inputs.converted);
    inputs.v = read(one, one.tensors->v, extents_of_v(shape), inputs.converted);
    inputs.finite = all_finite(inputs.q) && all_finite(inputs.k) && all_finite(inputs.v);
  } else {
    inputs.q = generate(one, Tensor::q, extents_of_q(shape));
    inputs.k = generate(one, Tensor::k, extents_of_k(shape));
    inputs.v = generate(one, Tensor::v, extents_of_v(shape));
  }
  return inputs;
}

}  // namespace flashpad::measure
