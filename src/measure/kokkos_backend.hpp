// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kokkos_ext/blas_threads.hpp"
#include "measure/kokkos_runner.hpp"
#include "measure/machine.hpp"
#include "measure/matrix_peak.hpp"
#include "measure/peaks.hpp"
#include "model/bf16_products.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace flashpad::measure {

/// What only the device's own library knows.
struct DeviceFacts {
  std::string name;
  double memory_free = 0;
  double last_level_cache = 0;
};

/// Backend on a Kokkos execution space. Host spaces have neither `device_facts` nor `mark`.
template <class Exec, class Timer = FenceTimer<Exec>>
class KokkosBackend final : public Backend {
 public:
  explicit KokkosBackend(std::string name, DeviceFacts (*device_facts)() = nullptr,
                         void (*mark)(bool) = nullptr)
      : m_name(std::move(name)), m_device_facts(device_facts), m_mark_range(mark) {}

  [[nodiscard]] std::string name() const override { return m_name; }

  [[nodiscard]] BackendInfo info() const override {
    BackendInfo info;
    info.name = m_name;
    if (m_device_facts != nullptr) info.device = m_device_facts().name;
    info.concurrency = kokkos_ext::concurrency(Exec());
    for (int level : {0, 1}) info.scratch_bytes[level] = Kokkos::TeamPolicy<Exec>::scratch_size_max(level);
    info.engines = engine_names<Exec>();
    return info;
  }

  [[nodiscard]] std::optional<double> device_memory_free() const override {
    if (m_device_facts == nullptr) return std::nullopt;
    return m_device_facts().memory_free;
  }

  [[nodiscard]] double last_level_cache() const override {
    return m_device_facts == nullptr ? measure::last_level_cache() : m_device_facts().last_level_cache;
  }

  [[nodiscard]] model::Peaks peaks(PeakRequest const& request) override {
    Exec const exec;
    if (m_known.bandwidth() == 0) {
      double const free = device_memory_free().value_or(host_memory_free());
      double const room = std::min(free, request.memory_limit.value_or(free));
      Bandwidth const measured = memory_bandwidth(exec, last_level_cache(), room);
      m_known.read = measured.read;
      m_known.copy = measured.copy;
    }
    return {flops(exec, request), m_known.bandwidth()};
  }

  [[nodiscard]] KnownPeaks known_peaks() const override { return m_known; }

  std::unique_ptr<Runner> prepare(RunSpec const& spec) override {
    // A host BLAS has threads of its own; as many as the execution space has makes a fair comparison.
    if (m_device_facts == nullptr) kokkos_ext::set_blas_threads(kokkos_ext::concurrency(Exec()));
    return std::make_unique<KokkosRunner<Exec, Timer>>(spec);
  }

  Choice plan(RunSpec const& spec) override {
    return Plan<Exec>(Exec(), spec.shape, spec.dtype, spec.options).choice();
  }

  void mark_range(bool begin) override {
    if (m_mark_range != nullptr) m_mark_range(begin);
  }

 private:
  double flops(Exec const& exec, PeakRequest const& request) {
    bool const fp64 = request.dtype == DType::fp64;
    if constexpr (kokkos_ext::is_host<Exec>) {
      auto const measured = [&exec](double& known, PeakKernel const& kernel) {
        if (known == 0 && kernel.run != nullptr) known = host_peak_flops(exec, kernel);
        return known;
      };
      double const products = model::bf16_products(request.engine, flashpad::name(request.dtype));
      double const by_pairs = products > 0 ? measured(m_known.flops_bf16, peak_kernel_bf16()) / products : 0;
      if (products == 1) return by_pairs;
      double const by_itself = fp64 ? measured(m_known.flops_fp64, peak_kernel_fp64())
                                    : measured(m_known.flops_fp32, peak_kernel_fp32());
      return products > 0 ? by_pairs : by_itself;
    } else {
      if (size_of(request.dtype) == 2 && on_matrix_unit(request.engine)) {
        if (m_known.flops_matrix == 0) m_known.flops_matrix = matrix_peak_flops(exec);
        return m_known.flops_matrix;
      }
      double& known = fp64 ? m_known.flops_fp64 : m_known.flops_fp32;
      if (known == 0)
        known = fp64 ? device_peak_flops<Exec, double>(exec) : device_peak_flops<Exec, float>(exec);
      return known;
    }
  }

  std::string m_name;
  DeviceFacts (*m_device_facts)();
  void (*m_mark_range)(bool);
  KnownPeaks m_known;
};

}  // namespace flashpad::measure
