// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mma_tilings.hpp"
#include "kernels/fused/fused_plan.hpp"

namespace flashpad::detail {

/// Plans the fused kernel with NVIDIA's warp-level matrix instructions, for problems that mma_refusal has no
/// words for. A thread of the team is a warp.
template <class Exec, class Products, int Dim>
std::unique_ptr<Runner<Exec>> make_mma_fused_for(Request<Exec> const& request,
                                                 std::string const& engine_name) {
  using Tiling = engines::MmaTilings<static_cast<int>(sizeof(typename Products::Storage)), Dim>;
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
  return std::make_unique<FusedRunner<Exec, Engine, typename Products::Storage>>(
      request, problem, Engine::make_config(problem), engine_name, Tiling::warps, 32, bytes, level);
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
