// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/space.hpp"

#include "measure/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace flashpad::tuning {

namespace {

enum class Where { host, gpu, any };
enum class What { stats, attention, any };

/// The default spaces: the first row that fits. `engine` is how an engine's name begins. `stats` has the 3 x
/// 3 x 2 x 3 = 54 configurations of a GPU with asynchronous copies, or 18 where stages are pinned to what the
/// engine has.
struct Row {
  std::string_view engine;
  Where where;
  What what;
  std::vector<int> q, k, team, stages;
};

std::vector<Row> const& rows() {
  static std::vector<Row> const all = {
      {"rows", Where::host, What::stats, {4, 8, 16}, {64, 128, 256}, {1, 2}, {1}},
      {"rows", Where::host, What::any, {1, 2, 4, 8, 16}, {32, 64, 128, 256}, {1}, {1}},
      {"simt", Where::host, What::stats, {16, 32, 64}, {16, 32, 64}, {1, 2}, {1}},
      {"simt", Where::host, What::any, {16, 32, 64, 128}, {16, 32, 64}, {1, 2}, {1}},
      {"simt", Where::gpu, What::stats, {16, 32, 64}, {16, 32, 64}, {4, 8}, {1}},
      {"simt", Where::gpu, What::any, {8, 16, 32, 64}, {8, 16, 32, 64}, {2, 4, 8}, {1}},
      {"mma", Where::gpu, What::any, {32, 64, 128}, {16, 32, 64}, {4, 8}, {2, 3, 4}},
      {"mfma", Where::gpu, What::stats, {32, 64, 128}, {32, 64, 128}, {4, 8}, {1}},
      {"mfma", Where::gpu, What::any, {32, 64, 128}, {16, 32, 64}, {4}, {1}},
      {"wgmma", Where::gpu, What::any, {128, 192, 256}, {64, 80, 96, 112, 128}, {0}, {2, 3, 4, 5, 6}},
      {"", Where::any, What::stats, {128, 256, 512}, {64, 128, 256}, {1, 2}, {1}},
      {"", Where::any, What::any, {64, 128, 256, 512, 1024}, {32, 64, 128, 256}, {1}, {1}},
  };
  return all;
}

/// The next smaller value of the list that already covers `n` rows or keys, or 0.
int enough(std::vector<int> const& values, int value, std::int64_t n) {
  int best = 0;
  for (int const other : values) {
    if (other < value && other >= n) best = best == 0 ? other : std::min(best, other);
  }
  return best;
}

std::string prune(Case const& problem, TuneSpace const& space, Configuration const& c,
                  model::OnChip const& chip) {
  if (int const q = enough(space.q, c.tile.q, problem.shape.seq_q); q > 0)
    return fmt::format("q: {} query rows are one tile of {} already", problem.shape.seq_q, q);
  if (int const k = enough(space.k, c.tile.k, problem.shape.seq_k); k > 0)
    return fmt::format("k: {} keys are one tile of {} already", problem.shape.seq_k, k);
  return model::over_budget(problem.kernel, measure::work_of(problem), c.tile, c.team, c.stages, chip);
}

}  // namespace

TuneSpace default_space(Kernel kernel, std::string const& engine, bool on_gpu) {
  for (Row const& row : rows()) {
    bool const fits = engine.starts_with(row.engine) &&
                      (row.where == Where::any || (row.where == Where::gpu) == on_gpu) &&
                      (row.what == What::any || (row.what == What::stats) == (kernel == Kernel::stats));
    if (fits) return {row.q, row.k, row.team, row.stages};
  }
  return {};  // the last row fits all
}

model::OnChip on_chip(std::string const& engine, measure::BackendInfo const& info, double last_level_cache) {
  bool const amd = info.name == "hip";
  bool const gpu = amd || info.name == "cuda";
  if (engine == "simt")
    return {.scratch = info.scratch_bytes[gpu ? 0 : 1],
            .lanes = amd   ? 64
                     : gpu ? 32
                           : 1,
            .queries_in_scratch = true,
            .state_in_scratch = true,
            .element_bytes = 4};
  if (engine == "wgmma") return {.scratch = 227.0 * 1024, .lanes = 32, .queries_in_scratch = true};
  // A lane has 255 registers on NVIDIA, 256 on gfx908 (beside as many for sums alone) and 512 on CDNA 2 and
  // 3, of which addresses and fragments in flight take some.
  bool const cdna2 = amd && (info.device.find("(gfx90a)") != std::string::npos ||
                             info.device.find("(gfx94") != std::string::npos);
  if (gpu)
    return {.scratch = info.scratch_bytes[0], .registers = cdna2 ? 448.0 : 224.0, .lanes = amd ? 64 : 32};
  return {.scratch = info.scratch_bytes[1],
          .cache = last_level_cache,
          .queries_in_scratch = true,
          .state_in_scratch = true};
}

std::vector<Candidate> candidates(Case const& problem, TuneSpace const& space, Configuration const& table,
                                  model::OnChip const& chip) {
  std::vector<Candidate> all;
  bool has_table = false;
  for (int const q : space.q) {
    for (int const k : space.k) {
      for (int const team : space.team) {
        for (int const stages : space.stages) {
          Candidate candidate;
          candidate.configuration = {{q, k}, team, stages};
          candidate.table = candidate.configuration == table;
          if (!candidate.table) candidate.pruned = prune(problem, space, candidate.configuration, chip);
          has_table = has_table || candidate.table;
          all.push_back(candidate);
        }
      }
    }
  }
  if (!has_table) all.push_back({table, true, "", {}});
  for (Candidate& candidate : all) {
    candidate.bytes =
        model::team_bytes(problem.kernel, measure::work_of(problem), candidate.configuration.tile,
                          candidate.configuration.stages, chip.element_bytes);
  }
  return all;
}

std::string label(Configuration const& configuration) {
  std::string text = fmt::format("{}x{}", configuration.tile.q, configuration.tile.k);
  if (configuration.team > 1) text += fmt::format(" team {}", configuration.team);
  if (configuration.stages > 1) text += fmt::format(" stages {}", configuration.stages);
  return text;
}

}  // namespace flashpad::tuning
