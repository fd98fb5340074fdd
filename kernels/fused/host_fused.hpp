// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/host_engine.hpp"
#include "kernels/engines/host_engines.hpp"
#include "kernels/fused/fused_plan.hpp"

namespace flashpad::detail {

/// How many teams the query tiles should make. Without a mask they are equally long, and it is enough that
/// every thread gets as many; otherwise three a thread let the schedule even them out.
inline double teams_wanted_of(Shape const& shape, Mask const& mask, int tile_q, int least_q, int threads) {
  auto const heads = shape.batch * shape.heads;
  for (int q = tile_q; q >= least_q && mask.left < 0 && mask.right < 0; q /= 2) {
    std::int64_t const teams = heads * ((shape.seq_q + q - 1) / q);
    if (teams > 0 && teams % threads == 0)
      return static_cast<double>(std::min<std::int64_t>(teams, 3 * threads));
  }
  return 3.0 * threads;
}

template <class T>
Tile tile_of(engines::HostTable<T> const& table, std::int64_t dim) {
  if (table.group <= 2) return tile_for(host_tiles, dim);
  switch (table.operand_bytes) {
    case 6: return tile_for(three_term_tiles, dim);
    case 4: return tile_for(two_term_tiles, dim);
    default: return tile_for(tile_register_tiles, dim);
  }
}

template <class Exec, class T>
TilePlan plan_tiles_of(Request<Exec> const& request, engines::HostTable<T> const& table) {
  Shape const& shape = request.shape;
  Tile const tile = tile_of(table, std::max(shape.head_dim, shape.value_dim));
  double const teams_wanted = teams_wanted_of(shape, request.options.mask, tile.q, table.lanes,
                                              kokkos_ext::concurrency(request.exec));
  return plan_tiles(shape, request.options, tile, table.lanes, teams_wanted);
}

/// Plans the fused kernel on a host backend with one of the host's engines: teams of one thread, tiles in
/// level 1 scratch memory (level 0 is 32 KiB there).
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_host_fused(Request<Exec> const& request, std::string const& engine_name) {
  using Engine = engines::HostEngine<Compute>;
  constexpr int level = 1;
  auto table = engines::host_table<Compute>(engine_name, request.dtype);
  TilePlan plan = plan_tiles_of(request, table);
  if (engine_name.empty() && plan.tile.q < table.least_rows) {
    table = engines::host_table<Compute>("portable", request.dtype);
    plan = plan_tiles_of(request, table);
  }

  auto const any = table.takes == nullptr ? table : engines::host_table<Compute>("portable", request.dtype);

  require_fixed("team_size", request.options.team_size, 1, table.engine);
  require_fixed("stages", request.options.stages, 1, table.engine);
  Shape const& shape = request.shape;
  int const threads = kokkos_ext::concurrency(request.exec);
  FusedProblem problem = make_problem(shape, request.options, request.scale, plan);
  // Unmasked tiles weigh the same, and in order a thread's next one is the next head's: what the engine
  // prefetches past the last key is then the first tile of the next walk.
  if (problem.schedule.last_tile_first) problem.schedule.hands = threads;

  std::size_t const bytes =
      Engine::parts(shape, table, plan.tile.q, plan.tile.k, problem.with_values).bytes();
  std::size_t const allowed = static_cast<std::size_t>(Kokkos::TeamPolicy<Exec>::scratch_size_max(level));
  require_scratch(plan.tile, bytes, allowed, level, Exec::name());
  reserve_scratch(request.exec, level, bytes);
  return std::make_unique<FusedRunner<Exec, Engine, Storage>>(
      request, problem, typename Engine::Config{table, any, level}, table.engine, 1, 1, bytes, level);
}

}  // namespace flashpad::detail
