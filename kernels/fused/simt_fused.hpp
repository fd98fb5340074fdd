// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/simt_engine.hpp"
#include "kernels/fused/fused_plan.hpp"

namespace flashpad::detail {

/// Plans the fused kernel with the SIMT engine on any backend. On a GPU a thread of the team is a warp (or
/// wavefront); on the host a team is one thread.
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_simt_fused(Request<Exec> const& request) {
  using Engine = engines::SimtEngine<Exec, Storage, Compute>;
  using Functor = FusedKernel<Exec, Engine, kokkos_ext::TeamSchedule<Exec>>;
  using Policy = typename Functor::Policy;
  constexpr bool host = kokkos_ext::is_host<Exec>;
  constexpr int level = host ? 1 : 0;

  Shape const& shape = request.shape;
  int const vector_length = host ? 1 : Policy::vector_length_max();
  double const concurrency = kokkos_ext::concurrency(request.exec);
  double const teams_wanted = host ? 3 * concurrency : concurrency / Engine::max_threads;
  Tile table = tile_for(simt_tiles, std::max(shape.head_dim, shape.value_dim));
  if (request.dtype == DType::fp64) table = {std::max(1, table.q / 2), std::max(1, table.k / 2)};
  TilePlan const plan = plan_tiles(shape, request.options, table, 1, teams_wanted);
  FusedProblem const problem = make_problem(shape, request.options, request.scale, plan);

  std::size_t const bytes = Engine::scratch_bytes(problem) + Engine::alignment;
  std::size_t const allowed = static_cast<std::size_t>(Policy::scratch_size_max(level));
  require_scratch(plan.tile, bytes, allowed, level, Exec::name());
  require_fixed("stages", request.options.stages, 1, "simt");
  if constexpr (host) reserve_scratch(request.exec, level, bytes);
  Policy policy(request.exec, 1, 1, vector_length);
  policy.set_scratch_size(level, Kokkos::PerTeam(static_cast<int>(bytes)));
  int const most =
      std::max(1, std::min(policy.team_size_max(Functor{problem, {level}}, Kokkos::ParallelForTag()),
                           Engine::max_threads / vector_length));
  int const asked = request.options.team_size;
  if (asked < 0 || asked > most)
    throw Error(text("team_size: ", asked, " is out of range for engine simt on ", Exec::name(),
                     "; allowed: 1 to ", most, ", or 0 to let the library choose"));
  int const team_size = asked > 0 ? asked : host ? 1 : most;
  return std::make_unique<FusedRunner<Exec, Engine, Storage>>(
      request, problem, typename Engine::Config{level}, "simt", team_size, vector_length, bytes, level);
}

}  // namespace flashpad::detail
