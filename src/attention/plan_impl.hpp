// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/attention.hpp>

#include "attention/arguments.hpp"
#include "attention/automatic.hpp"
#include "attention/runner.hpp"
#include "attention/tuned.hpp"
#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/region.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

namespace flashpad {

namespace detail {

// Instances of a host backend share its threads and their scratch memory, older releases of Kokkos do not
// guard them, and all host backends share the BLAS's number of threads: one launch of ours at a time.
// Launches of the caller's own are the caller's to order.
std::mutex& host_launch_mutex();

template <class Exec>
class PlanState {
 public:
  PlanState(Exec const& exec, Shape const& shape, DType dtype, Options const& options);
  PlanState(PlanState const&) = delete;
  PlanState& operator=(PlanState const&) = delete;
  ~PlanState();

  void run(Exec const& exec, Arguments const& arguments);

  [[nodiscard]] Shape const& shape() const { return m_request.shape; }
  [[nodiscard]] Choice const& choice() const { return m_choice; }

 private:
  Request<Exec> m_request;
  std::unique_ptr<Runner<Exec>> m_runner;
  Choice m_choice;
  std::mutex m_mutex;
  std::optional<Exec> m_last;  // the instance that may still be using the workspace
};

template <class Exec>
std::unique_ptr<Runner<Exec>> make_runner(Request<Exec> request) {
  switch (request.options.kernel) {
    case Kernel::naive: return make_naive(request);
    case Kernel::naive_vendor: return make_naive_vendor(request);
    case Kernel::hopper: return with_tuned_tile<Exec>(std::move(request), make_hopper<Exec>);
    case Kernel::fused:
    case Kernel::stats: return with_tuned_tile<Exec>(std::move(request), make_fused<Exec>);
    case Kernel::automatic: break;
  }
  return make_automatic(std::move(request));
}

template <class Exec>
PlanState<Exec>::PlanState(Exec const& exec, Shape const& shape, DType dtype, Options const& options)
    : m_request{exec, shape, dtype, options, 1} {
  kokkos_ext::require_launchable(exec);
  validate(shape, options.mask);
  double const scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(shape.head_dim)));
  // Kernels that count in powers of two multiply it by log2(e).
  double const folded = scale * 1.4426950408889634;
  bool const fits = dtype == DType::fp64 ? std::isfinite(folded) : std::isfinite(static_cast<float>(folded));
  if (!fits) {
    throw Error(text("scale: ", scale, " is not a finite number of the type of arithmetic; allowed: up to ",
                     dtype == DType::fp64 ? 1.24e308 : 2.35e38, ", and its negative"));
  }
  m_request.scale = scale;
  if (!(options.workspace_limit >= 0)) {
    throw Error(text("workspace_limit: ", options.workspace_limit,
                     " is out of range; allowed: bytes, or 0 for the default"));
  }
  std::vector<std::string> const engines = engine_names<Exec>(dtype);
  if (!options.engine.empty() && std::find(engines.begin(), engines.end(), options.engine) == engines.end()) {
    throw Error(text("engine: `", options.engine, "` is not available on ", Exec::name(), " in ", name(dtype),
                     "; available: ", joined(engines)));
  }
  std::lock_guard const lock(host_launch_mutex());
  m_runner = make_runner<Exec>(m_request);
  m_choice = m_runner->choice;
}

template <class Exec>
PlanState<Exec>::~PlanState() {
  if (m_last && m_choice.workspace_bytes > 0 && Kokkos::is_initialized()) {
    m_last->fence();
  }
}

template <class Exec>
void PlanState<Exec>::run(Exec const& exec, Arguments const& arguments) {
  kokkos_ext::require_launchable(exec);
  check_arguments(m_request.shape, m_request.dtype, m_choice.kernel, arguments);
  Shape const& s = m_request.shape;
  if (s.batch == 0 || s.heads == 0 || s.seq_q == 0) return;

  std::string const refusal = m_runner->refusal(arguments);
  if (!refusal.empty()) throw Error(refusal);

  static std::string const name_of_call = "flashpad::attention";  // kept: a call allocates nothing
  kokkos_ext::Region const region(name_of_call);
  std::lock_guard const lock(m_mutex);
  if (m_choice.workspace_bytes > 0) {
    if (m_last && !kokkos_ext::same_instance(*m_last, exec)) m_last->fence();
    m_last.emplace(exec);
  }
  if constexpr (kokkos_ext::is_host<Exec>) {
    std::lock_guard const host_lock(host_launch_mutex());
    m_runner->run(exec, arguments);
  } else {
    m_runner->run(exec, arguments);
  }
}

}  // namespace detail

template <class Exec>
Plan<Exec>::Plan(Exec const& exec, Shape const& shape, DType dtype, Options const& options) {
  if (!Kokkos::is_initialized()) {
    throw Error("Kokkos: not initialised; call Kokkos::initialize before making a flashpad::Plan");
  }
  m_state = std::make_shared<detail::PlanState<Exec>>(exec, shape, dtype, options);
}

template <class Exec>
void Plan<Exec>::run(Exec const& exec, detail::Arguments const& arguments) const {
  m_state->run(exec, arguments);
}

template <class Exec>
Shape const& Plan<Exec>::shape() const {
  return m_state->shape();
}

template <class Exec>
Choice const& Plan<Exec>::choice() const {
  return m_state->choice();
}

}  // namespace flashpad
