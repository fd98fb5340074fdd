// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/arguments.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace flashpad::detail {

namespace {

/// An axis of a tensor, or of the difference of two tensors' indices: n strides, low <= n <= high.
struct Axis {
  std::int64_t stride;
  std::int64_t low;
  std::int64_t high;
};

/// By falling stride; at most those of two tensors. No vector: every call of a plan looks for overlaps, and
/// allocates nothing.
class Axes {
 public:
  void add(Axis const& axis) {
    std::size_t at = m_count++;
    for (; at > 0 && m_axes[at - 1].stride < axis.stride; --at) m_axes[at] = m_axes[at - 1];
    m_axes[at] = axis;
  }
  [[nodiscard]] std::size_t size() const { return m_count; }
  Axis& operator[](std::size_t i) { return m_axes[i]; }
  Axis const& operator[](std::size_t i) const { return m_axes[i]; }

 private:
  std::array<Axis, 8> m_axes{};
  std::size_t m_count = 0;
};

/// Where the elements of a tensor are: from its lowest on, with no axis that goes down or stays.
struct Elements {
  std::intptr_t begin;
  Axes axes;
  std::int64_t reach = 0;  ///< elements from the first to the last
};

std::int64_t element_count(TensorRef const& tensor) {
  std::int64_t count = 1;
  for (std::int64_t const extent : tensor.extent) count *= extent;
  return count;
}

Elements elements_of(TensorRef const& tensor) {
  Elements all{reinterpret_cast<std::intptr_t>(tensor.data), {}};
  for (std::size_t i = 0; i < 4; ++i) {
    std::int64_t const steps = tensor.extent[i] - 1;
    std::int64_t const stride = tensor.stride[i];
    if (steps == 0 || stride == 0) continue;
    if (stride < 0) all.begin += steps * stride * static_cast<std::int64_t>(size_of(tensor.dtype));
    all.axes.add({std::abs(stride), 0, steps});
    all.reach += steps * std::abs(stride);
  }
  return all;
}

/// Differences i - j of indices i of a and j of b.
Axes difference_axes(Axes const& a, Axes const& b) {
  Axes axes = a;
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::size_t same = 0;
    while (same < axes.size() && (axes[same].stride != b[i].stride || axes[same].low != 0)) ++same;
    if (same < axes.size())
      axes[same].low = -b[i].high;
    else
      axes.add({b[i].stride, -b[i].high, 0});
  }
  return axes;
}

/// Whether sum_i n_i stride_i = distance for some n_i in the axes' bounds. Each axis has few candidates where
/// it is wider than all inner ones together, as in any tensor that was cut from an array; where it has many,
/// the answer may be a false yes, never a false no.
bool reachable(Axes const& axes, std::size_t from, std::int64_t distance) {
  if (from == axes.size()) return distance == 0;
  std::int64_t inner_low = 0;
  std::int64_t inner_high = 0;
  for (std::size_t i = from + 1; i < axes.size(); ++i) {
    inner_low += axes[i].low * axes[i].stride;
    inner_high += axes[i].high * axes[i].stride;
  }
  auto const [stride, low, high] = axes[from];
  constexpr int most_candidates = 8;
  int candidates = 0;
  // n stride must lie in [distance - inner_high, distance - inner_low].
  std::int64_t n = std::max(low, (distance - inner_high) / stride - 1);
  for (; n <= high && n * stride <= distance - inner_low; ++n) {
    if (n * stride < distance - inner_high) continue;
    if (++candidates > most_candidates || reachable(axes, from + 1, distance - n * stride)) return true;
  }
  return false;
}

void require_extents(char const* argument, TensorRef const& tensor,
                     std::array<std::int64_t, 4> const& expected) {
  if (!std::equal(expected.begin(), expected.end(), tensor.extent)) {
    throw Error(text(argument, ": its extents are (", tensor.extent[0], ", ", tensor.extent[1], ", ",
                     tensor.extent[2], ", ", tensor.extent[3], "); this plan takes (", expected[0], ", ",
                     expected[1], ", ", expected[2], ", ", expected[3], ")"));
  }
}

void require_dtype(char const* argument, TensorRef const& tensor, DType expected) {
  if (tensor.dtype != expected) {
    throw Error(
        text(argument, ": its element type is ", name(tensor.dtype), "; this plan takes ", name(expected)));
  }
}

void require_tensor(char const* argument, TensorRef const& tensor, std::array<std::int64_t, 4> const& extents,
                    DType dtype, bool whole_rows) {
  require_extents(argument, tensor, extents);
  require_dtype(argument, tensor, dtype);
  if (whole_rows && tensor.extent[3] > 1 && tensor.stride[3] != 1) {
    throw Error(text(argument, ": its last stride is ", tensor.stride[3], "; allowed: 1"));
  }
  if (tensor.data == nullptr && element_count(tensor) > 0) {
    throw Error(text(argument, ": it has no memory; allowed: an allocated View"));
  }
}

struct Named {
  char const* name;
  TensorRef const* tensor;
};

void require_apart(Named output, std::initializer_list<Named> others) {
  if (!output.tensor->present) return;
  if (overlaps_itself(*output.tensor)) {
    throw Error(text(output.name, ": two of its elements share memory (strides ", output.tensor->stride[0],
                     ", ", output.tensor->stride[1], ", ", output.tensor->stride[2], ", ",
                     output.tensor->stride[3], "); an output may not overlap"));
  }
  for (Named const& other : others) {
    if (other.tensor->present && overlap(*output.tensor, *other.tensor)) {
      throw Error(
          text(output.name, ": its memory overlaps that of ", other.name, "; an output may not overlap"));
    }
  }
}

}  // namespace

bool overlap(TensorRef const& a, TensorRef const& b) {
  if (element_count(a) == 0 || element_count(b) == 0) return false;
  Elements const in_a = elements_of(a);
  Elements const in_b = elements_of(b);
  std::int64_t const size_a = size_of(a.dtype);
  std::int64_t const size_b = size_of(b.dtype);
  if (in_a.begin >= in_b.begin + (in_b.reach + 1) * size_b ||
      in_b.begin >= in_a.begin + (in_a.reach + 1) * size_a)
    return false;
  std::int64_t const distance = in_b.begin - in_a.begin;
  if (size_a != size_b || distance % size_a != 0) return true;
  return reachable(difference_axes(in_a.axes, in_b.axes), 0, distance / size_a);
}

bool overlaps_itself(TensorRef const& tensor) {
  if (element_count(tensor) == 0) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    if (tensor.extent[i] > 1 && tensor.stride[i] == 0) return true;
  }
  Axes const axes = elements_of(tensor).axes;
  std::int64_t inner = 0;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i].stride <= inner) return true;
    inner += axes[i].high * axes[i].stride;
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
        text("kernel: a plan for ", name(kernel), " writes o; Plan::statistics needs a plan for stats"));
  }
  require_tensor("v", a.v, {s.batch, s.kv_heads, s.seq_k, s.value_dim}, dtype, true);
  require_tensor("o", a.o, {s.batch, s.heads, s.seq_q, s.value_dim}, dtype, true);
  if (a.lse.present) require_tensor("lse", a.lse, row, statistic, false);
  require_apart({"o", &a.o}, {{"q", &a.q}, {"k", &a.k}, {"v", &a.v}, {"lse", &a.lse}});
  require_apart({"lse", &a.lse}, {{"q", &a.q}, {"k", &a.k}, {"v", &a.v}});
}

}  // namespace flashpad::detail
