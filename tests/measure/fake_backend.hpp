// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "measure/backend.hpp"
#include "measure/elements.hpp"
#include "measure/verify.hpp"

#include <cmath>
#include <functional>

namespace flashpad::measure {

/// A backend whose kernel is a plain loop, and whose results and plan a test can spoil.
class FakeBackend final : public Backend {
 public:
  std::function<void(Outputs&)> spoil = [](Outputs&) {};
  std::function<void(Outputs&)> spoil_timed = [](Outputs&) {};
  std::function<void(RunSpec const&)> on_plan = [](RunSpec const&) {};
  std::function<void()> on_peaks = [] {};
  std::function<void()> on_timed_call = [] {};
  Choice choice;
  std::optional<double> device_memory;
  double cache = 0;
  std::vector<RunSpec> specs;
  std::vector<std::int64_t> timed_copies;
  double seconds = 1e-3;

  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] BackendInfo info() const override {
    return {.name = "fake", .device = "", .concurrency = 1, .engines = {}};
  }
  [[nodiscard]] std::optional<double> device_memory_free() const override { return device_memory; }
  [[nodiscard]] double last_level_cache() const override { return cache; }
  [[nodiscard]] model::Peaks peaks(PeakRequest const&) override {
    on_peaks();
    return {1e12, 1e11};
  }
  [[nodiscard]] KnownPeaks known_peaks() const override { return {}; }
  std::unique_ptr<Runner> prepare(RunSpec const& spec) override;
};

class FakeRunner final : public Runner {
 public:
  FakeRunner(FakeBackend& owner, RunSpec const& spec) : m_owner(owner), m_spec(spec), m_choice(owner.choice) {
    m_choice.kernel = spec.options.kernel;
  }

  [[nodiscard]] Choice const& choice() const override { return m_choice; }
  [[nodiscard]] double plan_seconds() const override { return 0.5; }
  void load(std::span<std::byte const> q, std::span<std::byte const> k,
            std::span<std::byte const> v) override {
    m_q = unpack(q, extents_of_q(m_spec.shape), m_spec.dtype, m_spec.layout);
    m_k = unpack(k, extents_of_k(m_spec.shape), m_spec.dtype, m_spec.layout);
    m_v = unpack(v, extents_of_v(m_spec.shape), m_spec.dtype, m_spec.layout);
  }
  void fill_outputs_with_nan() override {
    m_outputs.o.assign(static_cast<std::size_t>(extents_of_o(m_spec.shape).count() * size_of(m_spec.dtype)),
                       std::byte{0xff});
    m_outputs.lse.assign(
        static_cast<std::size_t>(m_spec.shape.batch * m_spec.shape.heads * m_spec.shape.seq_q), NAN);
  }
  void call(std::int64_t, bool with_lse) override {
    compute();
    m_owner.spoil(m_outputs);
    if (!with_lse) m_owner.spoil_timed(m_outputs);
  }
  void fence() override {}
  double timed_call(std::int64_t copy) override {
    m_owner.timed_copies.push_back(copy);
    m_owner.on_timed_call();
    call(copy, false);
    return m_owner.seconds;
  }
  Outputs fetch() override { return m_outputs; }

 private:
  void compute() {
    Case one;
    one.shape = m_spec.shape;
    one.dtype = DType::fp64;  // no rounding of P
    one.mask = m_spec.options.mask;
    one.scale = m_spec.options.scale;
    Inputs const inputs = {m_q, m_k, m_v, true, {}};
    auto const stride = strides(extents_of_o(one.shape), m_spec.layout);
    std::vector<double> o(static_cast<std::size_t>(one.shape.value_dim));
    for (QueryRow const& row : rows_to_verify(one.shape, 1e18)) {
      plain_row(one, inputs, row, o.data());
      for (std::int64_t c = 0; c < one.shape.value_dim; ++c) {
        store(m_outputs.o.data(), m_spec.dtype, row.b * stride[0] + row.h * stride[1] + row.i * stride[2] + c,
              o[static_cast<std::size_t>(c)]);
      }
    }
    m_outputs.lse = make_expected(one, inputs, rows_to_verify(one.shape, 1e18)).lse;
  }

  FakeBackend& m_owner;
  RunSpec m_spec;
  Choice m_choice;
  std::vector<double> m_q, m_k, m_v;
  Outputs m_outputs;
};

inline std::unique_ptr<Runner> FakeBackend::prepare(RunSpec const& spec) {
  specs.push_back(spec);
  on_plan(spec);
  return std::make_unique<FakeRunner>(*this, spec);
}

/// A small case that the fake kernel computes.
inline Case small_case() {
  Case one;
  one.name = "small";
  one.problem_key = "small";
  one.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .seq_q = 40, .seq_k = 50, .head_dim = 16, .value_dim = 24};
  one.kernel = Kernel::fused;
  one.backend = "fake";
  return one;
}

}  // namespace flashpad::measure
