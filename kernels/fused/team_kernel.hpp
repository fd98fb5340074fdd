// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/fused/fused_kernel.hpp"
#include "kokkos_ext/execution.hpp"

#include <type_traits>

namespace flashpad {

/// The loop as a kernel of Kokkos. On a GPU its arguments are passed as such: Kokkos would send more than 512
/// bytes through constant memory, one launch after the other.
template <class Exec, class Engine, class Schedule>
struct FusedKernel {
  using Bounds = Kokkos::LaunchBounds<Engine::max_threads, Engine::min_teams>;
  using Policy = std::conditional_t<
      kokkos_ext::is_host<Exec>, Kokkos::TeamPolicy<Exec, Schedule, Bounds>,
      Kokkos::TeamPolicy<Exec, Schedule, Bounds, Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>>;
  using Member = typename Policy::member_type;

  FusedProblem problem;
  typename Engine::Config config;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    FusedLoop<Engine>::run(team, problem, config);
    kokkos_ext::end_of_team<Exec>(team);
  }
};

}  // namespace flashpad
