// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/host_engine.hpp"
#include "kernels/engines/host_engines.hpp"
#include "kernels/fused/fused_plan.hpp"

namespace flashpad::detail {

/// Plans the fused kernel on a host backend with one of the host's engines: teams of one thread, tiles in
/// level 1 scratch memory (level 0 is 32 KiB there).
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_host_fused(Request<Exec> const& request, std::string const& engine_name) {
  using Engine = engines::HostEngine<Compute>;
  constexpr int level = 1;
  auto const table = engines::host_table<Compute>(engine_name, request.dtype);

  // Three teams a thread: enough for the dynamic schedule to even out a causal mask.
  double const teams_wanted = 3.0 * kokkos_ext::concurrency(request.exec);
  Shape const& shape = request.shape;
  Tile const table_tile = tile_for(host_tiles, std::max(shape.head_dim, shape.value_dim));
  TilePlan const plan = plan_tiles(shape, request.options, table_tile, table.lanes, teams_wanted);
  FusedProblem const problem = make_problem(shape, request.options, request.scale, plan);

  std::size_t const bytes =
      Engine::parts(shape, table, plan.tile.q, plan.tile.k, problem.with_values).bytes();
  std::size_t const allowed = static_cast<std::size_t>(Kokkos::TeamPolicy<Exec>::scratch_size_max(level));
  require_scratch(plan.tile, bytes, allowed, level, Exec::name());
  reserve_scratch(request.exec, level, bytes);
  return std::make_unique<FusedRunner<Exec, Engine, Storage>>(
      request, problem, typename Engine::Config{table, level}, table.engine, 1, 1, bytes, level);
}

}  // namespace flashpad::detail
