// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace flashpad::detail {

namespace {

struct Axis {
  std::int64_t stride;
  std::int64_t extent;
};

using Axes = std::array<Axis, 4>;

std::int64_t element_count(TensorRef const& tensor) {
  std::int64_t count = 1;
  for (std::int64_t const extent : tensor.extent) count *= extent;
  return count;
}

/// Axes by falling stride; an axis of extent 1 moves nothing, whatever its stride says.
Axes sorted_axes(TensorRef const& tensor) {
  Axes axes;
  for (std::size_t i = 0; i < 4; ++i) {
    axes[i] = {tensor.extent[i] > 1 ? tensor.stride[i] : 0, tensor.extent[i]};
  }
  std::sort(axes.begin(), axes.end(), [](Axis const& a, Axis const& b) { return a.stride > b.stride; });
  return axes;
}

/// Distance in elements from the first to the last element over axes [from, 4).
std::int64_t reach(Axes const& axes, std::size_t from) {
  std::int64_t sum = 0;
  for (std::size_t i = from; i < axes.size(); ++i) sum += (axes[i].extent - 1) * axes[i].stride;
  return sum;
}

/// Whether sum_i n_i stride_i = distance for some |n_i| < extent_i. What the inner axes can make up for is
/// bounded by their reach, so at most the two nearest multiples of each stride need a look when an axis is
/// wider than all inner ones together; otherwise the answer may be a false yes, never a false no.
bool reachable(Axes const& axes, std::size_t from, std::int64_t distance) {
  if (from == axes.size()) return distance == 0;
  auto const [stride, extent] = axes[from];
  if (std::abs(distance) > reach(axes, from)) return false;
  if (stride == 0) return reachable(axes, from + 1, distance);
  if (stride <= reach(axes, from + 1)) return true;
  std::int64_t const down = distance / stride;
  for (std::int64_t n = down - 1; n <= down + 1; ++n) {
    if (std::abs(n) < extent && reachable(axes, from + 1, distance - n * stride)) return true;
  }
  return false;
}

bool same_strides(Axes const& a, Axes const& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](Axis const& x, Axis const& y) { return x.stride == y.stride; });
}

void require_extents(char const* argument, TensorRef const& tensor,
                     std::array<std::int64_t, 4> const& expected) {
  if (!std::equal(expected.begin(), expected.end(), tensor.extent)) {
    throw Error(fmt::format("{}: its extents are ({}, {}, {}, {}); this plan takes ({}, {}, {}, {})",
                            argument, tensor.extent[0], tensor.extent[1], tensor.extent[2], tensor.extent[3],
                            expected[0], expected[1], expected[2], expected[3]));
  }
}

void require_dtype(char const* argument, TensorRef const& tensor, DType expected) {
  if (tensor.dtype != expected) {
    throw Error(fmt::format("{}: its element type is {}; this plan takes {}", argument, name(tensor.dtype),
                            name(expected)));
  }
}

void require_tensor(char const* argument, TensorRef const& tensor, std::array<std::int64_t, 4> const& extents,
                    DType dtype, bool whole_rows) {
  require_extents(argument, tensor, extents);
  require_dtype(argument, tensor, dtype);
  if (whole_rows && tensor.extent[3] > 1 && tensor.stride[3] != 1) {
    throw Error(fmt::format("{}: its last stride is {}; allowed: 1", argument, tensor.stride[3]));
  }
  if (tensor.data == nullptr && element_count(tensor) > 0) {
    throw Error(fmt::format("{}: it has no memory; allowed: an allocated View", argument));
  }
}

struct Named {
  char const* name;
  TensorRef const* tensor;
};

void require_apart(Named output, std::initializer_list<Named> others) {
  if (!output.tensor->present) return;
  if (overlaps_itself(*output.tensor)) {
    throw Error(fmt::format(
        "{}: two of its elements share memory (strides {}, {}, {}, {}); an output may not overlap",
        output.name, output.tensor->stride[0], output.tensor->stride[1], output.tensor->stride[2],
        output.tensor->stride[3]));
  }
  for (Named const& other : others) {
    if (other.tensor->present && overlap(*output.tensor, *other.tensor)) {
      throw Error(fmt::format("{}: its memory overlaps that of {}; an output may not overlap", output.name,
                              other.name));
    }
  }
}

}  // namespace

bool overlap(TensorRef const& a, TensorRef const& b) {
  if (element_count(a) == 0 || element_count(b) == 0) return false;
  Axes axes_a = sorted_axes(a);
  Axes const axes_b = sorted_axes(b);
  auto const begin_a = reinterpret_cast<std::intptr_t>(a.data);
  auto const begin_b = reinterpret_cast<std::intptr_t>(b.data);
  std::int64_t const size_a = size_of(a.dtype);
  std::int64_t const size_b = size_of(b.dtype);
  if (begin_a >= begin_b + (reach(axes_b, 0) + 1) * size_b ||
      begin_b >= begin_a + (reach(axes_a, 0) + 1) * size_a) {
    return false;
  }
  std::int64_t const distance = begin_b - begin_a;
  if (size_a != size_b || distance % size_a != 0 || !same_strides(axes_a, axes_b)) return true;
  for (std::size_t i = 0; i < axes_a.size(); ++i)
    axes_a[i].extent = std::max(axes_a[i].extent, axes_b[i].extent);
  return reachable(axes_a, 0, distance / size_a);
}

bool overlaps_itself(TensorRef const& tensor) {
  if (element_count(tensor) == 0) return false;
  Axes const axes = sorted_axes(tensor);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].extent > 1 && axes[i].stride <= reach(axes, i + 1)) return true;
  }
  return false;
}

void check_arguments(Shape const& s, DType dtype, Kernel kernel, Arguments const& a) {
  DType const statistic = dtype == DType::fp64 ? DType::fp64 : DType::fp32;
  std::array<std::int64_t, 4> const row = {s.batch, s.heads, s.seq_q, 1};
  require_tensor("q", a.q, {s.batch, s.heads, s.seq_q, s.head_dim}, dtype, true);
  require_tensor("k", a.k, {s.batch, s.kv_heads, s.seq_k, s.head_dim}, dtype, true);
  if (kernel == Kernel::stats) {
    if (!a.max.present || !a.sum.present || a.o.present) {
      throw Error("kernel: a plan for stats writes max and sum; call Plan::statistics");
    }
    require_tensor("max", a.max, row, statistic, false);
    require_tensor("sum", a.sum, row, statistic, false);
    require_apart({"max", &a.max}, {{"q", &a.q}, {"k", &a.k}, {"sum", &a.sum}});
    require_apart({"sum", &a.sum}, {{"q", &a.q}, {"k", &a.k}});
    return;
  }
  if (!a.o.present || !a.v.present) {
    throw Error(
        fmt::format("kernel: a plan for {} writes o; Plan::statistics needs a plan for stats", name(kernel)));
  }
  require_tensor("v", a.v, {s.batch, s.kv_heads, s.seq_k, s.value_dim}, dtype, true);
  require_tensor("o", a.o, {s.batch, s.heads, s.seq_q, s.value_dim}, dtype, true);
  if (a.lse.present) require_tensor("lse", a.lse, row, statistic, false);
  require_apart({"o", &a.o}, {{"q", &a.q}, {"k", &a.k}, {"v", &a.v}, {"lse", &a.lse}});
  require_apart({"lse", &a.lse}, {{"q", &a.q}, {"k", &a.k}, {"v", &a.v}});
}

}  // namespace flashpad::detail
