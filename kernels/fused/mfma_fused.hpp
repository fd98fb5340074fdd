// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mfma_tilings.hpp"
#include "kernels/fused/fused_plan.hpp"

namespace flashpad::detail {

/// Plans the fused kernel with AMD's matrix instructions, for problems that mfma_refusal has no words for. A
/// thread of the team is a wavefront.
template <class Exec, class Storage, int Dim>
std::unique_ptr<Runner<Exec>> make_mfma_fused_for(Request<Exec> const& request) {
#ifdef FLASHPAD_GFX908  // of the Kokkos found: kernels/CMakeLists.txt
  constexpr bool gfx908 = true;
#else
  constexpr bool gfx908 = false;
#endif
  using Tiling = engines::MfmaTilings<Dim, gfx908>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Engine = engines::MfmaEngine<engines::GcnWave, Storage, Tiling, Member>;
  constexpr int level = 0;

  double const compute_units = request.exec.hip_device_prop().multiProcessorCount;
  // A smaller query tile would leave wavefronts of a team without rows: where there are few, splits fill the
  // machine.
  TilePlan const plan = plan_tiles(request.shape, request.options, {Tiling::rows, Tiling::keys}, Tiling::rows,
                                   2 * compute_units * Tiling::teams);
  FusedProblem const problem = make_problem(request.shape, request.options, request.scale, plan);

  std::size_t const bytes = Engine::scratch_bytes + Engine::alignment;
  std::size_t const allowed = static_cast<std::size_t>(Kokkos::TeamPolicy<Exec>::scratch_size_max(level));
  require_scratch(plan.tile, bytes, allowed, level, Exec::name());
  return std::make_unique<FusedRunner<Exec, Engine, Storage>>(request, problem, Engine::make_config(problem),
                                                              "mfma", Tiling::waves, engines::GcnWave::lanes,
                                                              bytes, level);
}

template <class Exec, class Storage>
std::unique_ptr<Runner<Exec>> make_mfma_fused(Request<Exec> const& request) {
  return engines::with_mfma_dim(std::max(request.shape.head_dim, request.shape.value_dim), [&](auto dim) {
    return make_mfma_fused_for<Exec, Storage, decltype(dim)::value>(request);
  });
}

}  // namespace flashpad::detail
