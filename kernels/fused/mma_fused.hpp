// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mma_tilings.hpp"
#include "kernels/fused/fused_plan.hpp"

namespace flashpad::detail {

/// Plans the fused kernel with NVIDIA's warp-level matrix instructions, for problems that mma_refusal has no
/// words for. A thread of the team is a warp.
template <class Exec, class Products, class Tiling>
std::unique_ptr<Runner<Exec>> make_mma_fused_with(Request<Exec> const& request,
                                                  std::string const& engine_name) {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Engine = engines::MmaEngine<Products, Tiling, Member>;
  constexpr int level = 0;

  Shape const& shape = request.shape;
  auto const& device = request.exec.cuda_device_prop();
  double const teams_wanted = static_cast<double>(device.multiProcessorCount) * Tiling::teams;
  // A smaller query tile would leave warps of a team without rows: where there are few, splits fill the
  // machine.
  TilePlan const plan =
      plan_tiles(shape, request.options, {Tiling::rows, Tiling::keys}, Tiling::rows, 2 * teams_wanted);
  FusedProblem problem = make_problem(shape, request.options, request.scale, plan);
  // Heads whose K and V fill half of the second-level cache are worked on together.
  double const head_bytes = static_cast<double>(sizeof(typename Products::Storage)) *
                            static_cast<double>(shape.seq_k * (shape.head_dim + shape.value_dim));
  double const key_heads = std::clamp(device.l2CacheSize / 2 / std::max(head_bytes, 1.0), 1.0, 1e6);
  bool const empty = shape.kv_heads == 0;  // allowed: there is nothing to do then
  problem.schedule.section = static_cast<std::int64_t>(key_heads) * (empty ? 1 : problem.group_size());

  std::size_t const bytes = Engine::scratch_bytes + Engine::alignment;
  std::size_t const allowed = static_cast<std::size_t>(Kokkos::TeamPolicy<Exec>::scratch_size_max(level));
  require_scratch(plan.tile, bytes, allowed, level, Exec::name());
  auto runner = std::make_unique<FusedRunner<Exec, Engine, typename Products::Storage>>(
      request, problem, Engine::make_config(problem), engine_name, Tiling::warps, 32, bytes, level);
  runner->choice.stages = Tiling::stages;
  return runner;
}

/// How well a tiling serves a request for a team size or stages: not at all, with rows or keys to spare, or
/// exactly.
enum class Serves { no, larger, exactly };

template <class Tiling>
Serves mma_serves(Options const& options) {
  auto const fits = [](int asked, int has) { return asked == 0 || asked == has; };
  if (!fits(options.team_size, Tiling::warps) || !fits(options.stages, Tiling::stages) ||
      options.tile.q > Tiling::rows || options.tile.k > Tiling::keys) {
    return Serves::no;
  }
  return fits(options.tile.q, Tiling::rows) && fits(options.tile.k, Tiling::keys) ? Serves::exactly
                                                                                  : Serves::larger;
}

/// The first variant of a part that serves a request so well, or none. One file for each part
/// (mma_variants.hpp).
template <class Exec, class Products, int Dim, int Part>
std::unique_ptr<Runner<Exec>> make_mma_variant(Request<Exec> const& request, std::string const& engine_name,
                                               Serves wanted);

/// The table's tiling, unless team size or stages are asked for: then one that has them.
template <class Exec, class Products, int Dim>
std::unique_ptr<Runner<Exec>> make_mma_fused_for(Request<Exec> const& request,
                                                 std::string const& engine_name) {
  constexpr int bytes = static_cast<int>(sizeof(typename Products::Storage));
  using Table = engines::MmaTilings<bytes, Dim>;
  Options const& o = request.options;
  bool const any = o.team_size == 0 && o.stages == 0;
  for (Serves const wanted : {Serves::exactly, Serves::larger}) {
    if (any || mma_serves<Table>(o) == wanted) {
      return make_mma_fused_with<Exec, Products, Table>(request, engine_name);
    }
    if constexpr (engines::has_mma_variants<bytes, Dim>) {
      if (auto one = make_mma_variant<Exec, Products, Dim, 0>(request, engine_name, wanted)) return one;
      if (auto one = make_mma_variant<Exec, Products, Dim, 1>(request, engine_name, wanted)) return one;
      if (auto one = make_mma_variant<Exec, Products, Dim, 2>(request, engine_name, wanted)) return one;
    }
  }
  throw Error(text("tile: ", o.tile.q, "x", o.tile.k, " with team_size ", o.team_size, " and stages ",
                   o.stages, " is not compiled for engine ", engine_name,
                   " at this head dimension; allowed: up to ", Table::rows, "x", Table::keys, " with ",
                   Table::warps, " and ", Table::stages,
                   engines::has_mma_variants<bytes, Dim> ? ", those of kernels/engines/mma_tilings.hpp" : "",
                   ", or 0 to let the library choose"));
}

template <class Exec, class Products>
std::unique_ptr<Runner<Exec>> make_mma_fused(Request<Exec> const& request, std::string const& engine_name) {
  constexpr int bytes = static_cast<int>(sizeof(typename Products::Storage));
  return engines::with_mma_dim<bytes>(
      std::max(request.shape.head_dim, request.shape.value_dim), [&](auto dim) {
        return make_mma_fused_for<Exec, Products, decltype(dim)::value>(request, engine_name);
      });
}

}  // namespace flashpad::detail
