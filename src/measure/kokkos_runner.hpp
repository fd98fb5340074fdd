// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/attention.hpp>

#include "measure/backend.hpp"
#include "measure/elements.hpp"
#include "measure/timer.hpp"
#include "measure/verify.hpp"
#include "model/memory.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace flashpad::measure {

/// Runner on a Kokkos execution space. Tensors are plain bytes here: the library is called through its
/// untyped arguments, so that one instantiation serves all element types.
template <class Exec, class Timer = FenceTimer<Exec>>
class KokkosRunner final : public Runner {
 public:
  explicit KokkosRunner(RunSpec const& spec) : m_spec(spec) {
    auto const start = std::chrono::steady_clock::now();
    m_plan = std::make_unique<Plan<Exec>>(m_exec, spec.shape, spec.dtype, spec.options);
    m_plan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    Shape const& s = spec.shape;
    std::int64_t const element = size_of(spec.dtype);
    m_q_bytes = extents_of_q(s).count() * element;
    m_k_bytes = extents_of_k(s).count() * element;
    m_v_bytes = extents_of_v(s).count() * element;
    m_copy_stride = padded(m_q_bytes) + padded(m_k_bytes) + padded(m_v_bytes);
    // Set to zero here: a parallel first touch spreads the pages over the memory of a machine with several.
    m_inputs = Buffer("flashpad::measure::inputs", static_cast<std::size_t>(spec.copies * m_copy_stride));
    std::int64_t const rows = s.batch * s.heads * s.seq_q * statistic_size();
    if (is_stats()) {
      m_max = Buffer("flashpad::measure::max", static_cast<std::size_t>(rows));
      m_sum = Buffer("flashpad::measure::sum", static_cast<std::size_t>(rows));
    } else {
      m_o = Buffer("flashpad::measure::o", static_cast<std::size_t>(extents_of_o(s).count() * element));
      m_lse = Buffer("flashpad::measure::lse", static_cast<std::size_t>(rows));
    }
  }

  [[nodiscard]] Choice const& choice() const override { return m_plan->choice(); }
  [[nodiscard]] double plan_seconds() const override { return m_plan_seconds; }

  void load(std::span<std::byte const> q, std::span<std::byte const> k,
            std::span<std::byte const> v) override {
    for (std::int64_t copy = 0; copy < m_spec.copies; ++copy) {
      std::int64_t at = copy * m_copy_stride;
      for (std::span<std::byte const> const& tensor : {q, k, v}) {
        auto const size = static_cast<std::int64_t>(tensor.size());
        Kokkos::deep_copy(m_exec, Kokkos::subview(m_inputs, std::make_pair(at, at + size)),
                          HostBytes(reinterpret_cast<unsigned char const*>(tensor.data()), tensor.size()));
        at += padded(size);
      }
    }
    m_exec.fence();
  }

  void fill_outputs_with_nan() override {
    for (Buffer const& buffer : {m_o, m_lse, m_max, m_sum}) Kokkos::deep_copy(m_exec, buffer, 0xff);
    m_exec.fence();
  }

  void call(std::int64_t copy, bool with_lse) override {
    unsigned char* q = m_inputs.data() + copy * m_copy_stride;
    unsigned char* k = q + padded(m_q_bytes);
    Shape const& s = m_spec.shape;
    detail::Arguments arguments;
    arguments.q = tensor(q, extents_of_q(s));
    arguments.k = tensor(k, extents_of_k(s));
    if (is_stats()) {
      arguments.max = statistic(m_max);
      arguments.sum = statistic(m_sum);
    } else {
      arguments.v = tensor(k + padded(m_k_bytes), extents_of_v(s));
      arguments.o = tensor(m_o.data(), extents_of_o(s));
      if (with_lse) arguments.lse = statistic(m_lse);
    }
    m_plan->run(m_exec, arguments);
  }

  void fence() override { m_exec.fence(); }

  double timed_call(std::int64_t copy) override {
    m_timer.start(m_exec);
    call(copy, false);
    return m_timer.stop(m_exec);
  }

  Outputs fetch() override {
    m_exec.fence();
    Outputs outputs;
    outputs.o = bytes_of(m_o);
    if (is_stats()) {
      std::vector<double> const max = numbers_of(m_max);
      outputs.lse = numbers_of(m_sum);
      for (std::size_t i = 0; i < max.size(); ++i) outputs.lse[i] = max[i] + std::log(outputs.lse[i]);
    } else {
      outputs.lse = numbers_of(m_lse);
    }
    return outputs;
  }

 private:
  using Buffer = Kokkos::View<unsigned char*, typename Exec::memory_space>;
  using HostBytes =
      Kokkos::View<unsigned char const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static std::int64_t padded(std::int64_t bytes) {
    return (bytes + model::tensor_alignment - 1) / model::tensor_alignment * model::tensor_alignment;
  }

  [[nodiscard]] bool is_stats() const { return m_plan->choice().kernel == Kernel::stats; }
  [[nodiscard]] DType statistic_type() const {
    return m_spec.dtype == DType::fp64 ? DType::fp64 : DType::fp32;
  }
  [[nodiscard]] std::int64_t statistic_size() const { return size_of(statistic_type()); }

  [[nodiscard]] detail::TensorRef tensor(void const* data, Extents const& e) const {
    auto const stride = strides(e, m_spec.layout);
    detail::TensorRef ref = {data, {e.batch, e.heads, e.rows, e.columns}, {}, m_spec.dtype, true};
    std::copy(stride.begin(), stride.end(), ref.stride);
    return ref;
  }

  [[nodiscard]] detail::TensorRef statistic(Buffer const& buffer) const {
    Shape const& s = m_spec.shape;
    return {buffer.data(),
            {s.batch, s.heads, s.seq_q, 1},
            {s.heads * s.seq_q, s.seq_q, 1, 1},
            statistic_type(),
            true};
  }

  std::vector<std::byte> bytes_of(Buffer const& buffer) const {
    std::vector<std::byte> bytes(buffer.extent(0));
    Kokkos::deep_copy(
        m_exec,
        Kokkos::View<unsigned char*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()),
        buffer);
    m_exec.fence();
    return bytes;
  }

  std::vector<double> numbers_of(Buffer const& buffer) const {
    std::vector<std::byte> const bytes = bytes_of(buffer);
    std::vector<double> numbers(bytes.size() / static_cast<std::size_t>(statistic_size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = measure::load(bytes.data(), statistic_type(), static_cast<std::int64_t>(i));
    }
    return numbers;
  }

  RunSpec m_spec;
  Exec m_exec;
  Timer m_timer;
  std::unique_ptr<Plan<Exec>> m_plan;
  double m_plan_seconds = 0;
  std::int64_t m_q_bytes = 0, m_k_bytes = 0, m_v_bytes = 0, m_copy_stride = 0;
  Buffer m_inputs, m_o, m_lse, m_max, m_sum;
};

}  // namespace flashpad::measure
