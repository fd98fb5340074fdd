// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/rows_engines.hpp"
#include "kernels/fused/fused_plan.hpp"
#include "kernels/fused/rows_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace flashpad::detail {

/// What few rows may take a thread, beyond inputs and outputs: half for a team's rows, half for the partial
/// results.
constexpr double rows_bytes = 2.0 * 1024 * 1024;

/// Parts of the keys that give every thread the same work: at least four a thread, so that one that is held
/// up costs little; none where the heads do that alone, or are a whole number a thread: short calls would pay
/// for waking the threads once more, to merge. `row_bytes` is what a part of all rows leaves.
inline int rows_splits(double teams, int threads, double key_tiles, double row_bytes) {
  if (threads == 1 || teams >= 4.0 * threads || (teams > 0 && std::fmod(teams, threads) == 0)) return 1;
  double const wanted = std::ceil(4.0 * threads / std::max(1.0, teams));
  // A part shorter than four tiles costs more than it brings.
  double const most = std::min({key_tiles / 4, 128.0, rows_bytes / 2 * threads / row_bytes});
  return static_cast<int>(std::max(1.0, std::min(wanted, most)));
}

/// Keys that K is read for before it is V's turn. One or two rows read at the pace of memory, K and V by
/// turns, and what the processor fetches ahead by itself survives a short turn best (Zen 4, one row, GB/s at
/// 32, 64 and 128 keys: float32 of 64 elements 31, 26, 26 and of 128 elements 21, 25, 26; bfloat16 of 64
/// elements 35, 17, 14). More rows are held up by their arithmetic, and ask for the next tile themselves.
template <class T>
int rows_key_tile(engines::RowsTable<T> const& table, std::int64_t rows, std::int64_t row_bytes) {
  int const measured = rows > 2 ? table.more_rows_tile : table.few_rows_tile;
  // One row of 128 bytes is best at half (AMX, bf16 by vdpbf16ps, 64, 128 and 256 keys: 17.5, 16.7 and 15.6).
  if (measured > 0) return rows == 1 && row_bytes <= 128 ? measured / 2 : measured;
  if (rows > 2) return 64;
  return row_bytes < 512 ? 32 : 128;
}

/// Plans the fused kernel for few query rows on a host backend.
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_rows_fused(Request<Exec> const& request, std::string const& engine_name) {
  using Rows = RowsKernel<Exec, Compute, kokkos_ext::TeamSchedule<Exec>>;
  constexpr int level = 1;
  std::int64_t const group = Rows::heads_of_team(request.shape);
  auto const table = engines::rows_table<Compute>(engine_name, request.dtype, group * request.shape.seq_q);
  int const threads = kokkos_ext::concurrency(request.exec);

  require_fixed("team_size", request.options.team_size, 1, engine_name);
  require_fixed("stages", request.options.stages, 1, engine_name);
  // The rows of all query heads of a key/value head are one team's: as many teams as key/value heads.
  Shape const& shape = request.shape;
  Shape teams = shape;
  teams.heads = shape.kv_heads;
  double const row_bytes = static_cast<double>((shape.head_dim + shape.value_dim + 2)) * sizeof(Compute);
  int const key_tile =
      rows_key_tile(table, group * shape.seq_q, shape.head_dim * static_cast<std::int64_t>(sizeof(Storage)));
  auto const most_rows = static_cast<std::int64_t>(rows_bytes / 2 / (row_bytes * static_cast<double>(group)));
  Tile const table_tile = {static_cast<int>(std::min(std::clamp<std::int64_t>(shape.seq_q, 1, 16),
                                                     std::max<std::int64_t>(1, most_rows))),
                           key_tile};
  TilePlan plan = plan_tiles(teams, request.options, table_tile, table_tile.q, threads);
  if (request.options.splits == 0) {
    double const query_tiles = std::ceil(static_cast<double>(shape.seq_q) / plan.tile.q);
    double const rows = static_cast<double>(shape.batch * shape.heads) * static_cast<double>(shape.seq_q);
    plan.splits =
        rows_splits(static_cast<double>(shape.batch * shape.kv_heads) * query_tiles, threads,
                    static_cast<double>(shape.seq_k) / plan.tile.k, std::max(1.0, rows * row_bytes));
  }
  FusedProblem problem = make_problem(shape, request.options, request.scale, plan);
  problem.schedule.heads = shape.kv_heads;

  std::size_t const bytes = Rows::parts(problem, table).bytes();
  std::size_t const allowed = static_cast<std::size_t>(Kokkos::TeamPolicy<Exec>::scratch_size_max(level));
  require_scratch(plan.tile, bytes, allowed, level, Exec::name());
  reserve_scratch(request.exec, level, bytes);
  typename Rows::Config const config{table, static_cast<int>(sizeof(Storage)), level};
  auto runner = std::make_unique<FusedRunner<Exec, Rows, Storage, Rows>>(request, problem, config,
                                                                         table.engine, 1, 1, bytes, level);
  runner->choice.heads_per_tile = static_cast<int>(group);
  return runner;
}

}  // namespace flashpad::detail
