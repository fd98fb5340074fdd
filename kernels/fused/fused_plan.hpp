// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "attention/arguments.hpp"
#include "attention/runner.hpp"
#include "kernels/fused/merge.hpp"
#include "kernels/fused/team_kernel.hpp"
#include "kernels/fused/tiles.hpp"
#include "kokkos_ext/execution.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <limits>

namespace flashpad::detail {

/// What an engine's planner found for one request, before any memory is taken.
struct TilePlan {
  Tile tile;
  int splits = 1;
};

/// The part of planning that no engine changes: the tile asked for or the table's, and how far to split.
/// `rows_unit` is the smallest query tile that makes sense, `teams_wanted` how many teams keep the machine
/// busy.
inline TilePlan plan_tiles(Shape const& shape, Options const& options, Tile table, int rows_unit,
                           double teams_wanted) {
  for (auto const& [argument, value] :
       {std::pair{"tile.q", options.tile.q}, std::pair{"tile.k", options.tile.k}}) {
    if (value < 0 || value > max_tile) {
      throw Error(text(argument, ": ", value, " is out of range; allowed: 1 to ", max_tile,
                       ", or 0 to let the library choose"));
    }
  }
  if (options.splits < 0 || options.splits > max_splits) {
    throw Error(text("splits: ", options.splits, " is out of range; allowed: 1 to ", max_splits,
                     ", or 0 to let the library choose"));
  }

  TilePlan plan{options.tile, options.splits};
  double const heads = static_cast<double>(shape.batch * shape.heads);
  auto const query_tiles = [&](int q) {
    std::int64_t const whole = (shape.seq_q + q - 1) / q;
    return static_cast<double>(whole);
  };
  if (plan.tile.q == 0) {
    plan.tile.q = table.q;
    while (plan.tile.q > rows_unit &&
           (heads * query_tiles(plan.tile.q) < teams_wanted || plan.tile.q / 2 >= shape.seq_q)) {
      plan.tile.q = std::max(rows_unit, plan.tile.q / 2);
    }
  }
  if (plan.tile.k == 0) plan.tile.k = table.k;
  if (plan.splits == 0) {
    // Split only when the query tiles leave most of the machine idle, and never below four key tiles a part.
    double const teams = std::max(1.0, heads * query_tiles(plan.tile.q));
    double const key_tiles = static_cast<double>(shape.seq_k) / plan.tile.k;
    double const splits = std::min({teams_wanted / 2 / teams, key_tiles / 4, 128.0});
    plan.splits = std::max(1, static_cast<int>(splits));
  }
  return plan;
}

/// Refuses a team size or stages that an engine does not vary: it has `has`.
inline void require_fixed(char const* argument, int asked, int has, std::string const& engine) {
  if (asked == 0 || asked == has) return;
  throw Error(text(argument, ": ", asked, " is not for engine ", engine, ", which has ", has,
                   "; allowed: ", has, ", or 0 to let the library choose"));
}

/// Refuses a tile that does not fit the backend's scratch memory.
inline void require_scratch(Tile const& tile, std::size_t bytes, std::size_t allowed, int level,
                            char const* backend) {
  if (bytes <= allowed) return;
  throw Error(text("tile: ", tile.q, "x", tile.k, " needs ", bytes,
                   " bytes of team scratch; allowed: ", allowed, " (level ", level, " of ", backend, ")"));
}

inline FusedProblem make_problem(Shape const& shape, Options const& options, double scale,
                                 TilePlan const& plan) {
  FusedProblem problem;
  problem.shape = shape;
  problem.variant = BandVariant::make(shape.seq_q, shape.seq_k, options.mask);
  problem.scale = scale;
  problem.tile_q = plan.tile.q;
  problem.tile_k = plan.tile.k;
  problem.skip_hidden = options.skip_hidden_tiles;
  problem.with_values = options.kernel != Kernel::stats;
  problem.schedule.batches = shape.batch;
  problem.schedule.heads = shape.heads;
  problem.schedule.query_tiles = (shape.seq_q + plan.tile.q - 1) / plan.tile.q;
  problem.schedule.splits = plan.splits;
  problem.schedule.last_tile_first = problem.variant.right >= 0;
  return problem;
}

/// Touches level `level` scratch memory of the instance once, so that Kokkos takes it now and not in a call.
template <class Exec>
void reserve_scratch(Exec const& exec, int level, std::size_t bytes) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  Policy policy(exec, 1, 1);
  policy.set_scratch_size(level, Kokkos::PerTeam(static_cast<int>(bytes)));
  Kokkos::parallel_for("flashpad::fused::reserve_scratch", policy,
                       KOKKOS_LAMBDA(typename Policy::member_type const&){});
}

/// A planned fused kernel: one engine, one league. The workspace holds the partial results of a split walk.
template <class Exec, class Engine, class Storage,
          class FunctorOf = FusedKernel<Exec, Engine, kokkos_ext::TeamSchedule<Exec>>>
class FusedRunner final : public Runner<Exec> {
 public:
  using Compute = typename Engine::Compute;
  using Functor = FunctorOf;
  using Policy = typename Functor::Policy;

  FusedRunner(Request<Exec> const& request, FusedProblem const& problem,
              typename Engine::Config const& config, std::string const& engine, int team_size,
              int vector_length, std::size_t scratch_bytes, int scratch_level)
      : m_functor{problem, config},
        m_team_size(team_size),
        m_vector_length(vector_length),
        m_scratch_bytes(scratch_bytes),
        m_scratch_level(scratch_level) {
    flashpad::Schedule const& schedule = problem.schedule;
    double const teams = static_cast<double>(schedule.batches * schedule.heads) *
                         static_cast<double>(schedule.query_tiles) * static_cast<double>(schedule.splits);
    if (teams > std::numeric_limits<int>::max()) {
      throw Error(text("tile.q: ", problem.tile_q, " makes ", teams, " teams; allowed: up to ",
                       std::numeric_limits<int>::max()));
    }
    allocate_partials(request);
    this->choice.kernel = request.options.kernel;
    this->choice.engine = engine;
    this->choice.tile = {problem.tile_q, problem.tile_k};
    this->choice.splits = static_cast<int>(problem.schedule.splits);
    this->choice.team_size = team_size;
    this->choice.vector_length = vector_length;
    this->choice.stages = 1;
    this->choice.workspace_bytes = static_cast<double>(m_workspace.extent(0));
    this->choice.scratch_bytes = static_cast<double>(scratch_bytes);
  }

  void run(Exec const& exec, Arguments const& arguments) override {
    Functor functor = m_functor;
    FusedProblem& p = functor.problem;
    p.q = operand(arguments.q);
    p.k = operand(arguments.k);
    if (p.with_values) {
      p.v = operand(arguments.v);
      p.o = operand(arguments.o);
    }
    if (arguments.lse.present) p.lse = operand(arguments.lse);
    if (arguments.max.present) p.max = operand(arguments.max);
    if (arguments.sum.present) p.sum = operand(arguments.sum);

    Policy policy(exec, static_cast<int>(p.schedule.league_size()), m_team_size, m_vector_length);
    policy.set_scratch_size(m_scratch_level, Kokkos::PerTeam(static_cast<int>(m_scratch_bytes)));
    policy.set_chunk_size(1);
    Kokkos::parallel_for(p.with_values ? "flashpad::fused" : "flashpad::stats", policy, functor);
    if (p.schedule.splits > 1) launch_merge<Exec, Storage, Compute>(exec, p);
  }

 private:
  void allocate_partials(Request<Exec> const& request) {
    FusedProblem& p = m_functor.problem;
    if (p.schedule.splits == 1) return;
    std::int64_t const rows = p.schedule.splits * p.shape.batch * p.shape.heads * p.shape.seq_q;
    std::int64_t const value_dim = p.with_values ? p.shape.value_dim : 0;
    auto const bytes = static_cast<std::size_t>(rows * (value_dim + 2)) * sizeof(Compute);
    double const limit = request.options.workspace_limit;
    if (limit > 0 && static_cast<double>(bytes) > limit) {
      throw OutOfMemory(text("splits: ", p.schedule.splits, " parts need a workspace of ", bytes,
                             " bytes; allowed: ", limit, " (workspace_limit)"),
                        static_cast<double>(bytes));
    }
    m_workspace = kokkos_ext::allocate(request.exec, "flashpad::fused::partials", bytes);
    auto* next = reinterpret_cast<Compute*>(m_workspace.data());
    p.partials = {next, next + rows * value_dim, next + rows * (value_dim + 1), Engine::log_unit};
  }

  Functor m_functor;
  int m_team_size;
  int m_vector_length;
  std::size_t m_scratch_bytes;
  int m_scratch_level;
  kokkos_ext::Bytes<Exec> m_workspace;
};

}  // namespace flashpad::detail
