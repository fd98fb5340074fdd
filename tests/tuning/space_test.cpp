// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flashpad::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::size_t size(TuneSpace const& space) {
  return space.q.size() * space.k.size() * space.team.size() * space.stages.size();
}

Case problem(Kernel kernel, std::int64_t n, std::int64_t d, DType dtype = DType::fp16) {
  Case one;
  one.kernel = kernel;
  one.dtype = dtype;
  one.shape = {.batch = 1, .heads = 1, .kv_heads = 1, .seq_q = n, .seq_k = n, .head_dim = d, .value_dim = d};
  return one;
}

std::string pruned(std::vector<Candidate> const& all, Configuration const& configuration) {
  for (Candidate const& candidate : all) {
    if (candidate.configuration == configuration) return candidate.pruned;
  }
  return "no such candidate";
}

TEST(TuningSpace, StatsHas54ConfigurationsAnd18WhereStagesArePinned) {
  EXPECT_EQ(size(default_space(Kernel::stats, "mma", true)), 54u);
  for (char const* engine : {"simt", "mfma"})
    EXPECT_EQ(size(default_space(Kernel::stats, engine, true)), 18u) << engine;
  for (char const* engine : {"simt", "rows-v4", "portable-v3", "avx512-bf16"}) {
    TuneSpace const space = default_space(Kernel::stats, engine, false);
    EXPECT_EQ(size(space), 18u) << engine;
    EXPECT_EQ(space.stages, std::vector<int>{1}) << engine;
  }
}

TEST(TuningSpace, EveryEngineHasOne) {
  for (char const* engine :
       {"simt", "mma", "mma-tf32x3", "mfma", "wgmma", "rows-v3", "portable-baseline", "new"}) {
    for (bool const gpu : {false, true})
      EXPECT_GT(size(default_space(Kernel::fused, engine, gpu)), 1u) << engine;
  }
}

TEST(TuningSpace, TheModulesBudgets) {
  model::Work work;
  work.dtype = DType::fp16;
  work.shape.head_dim = work.shape.value_dim = 64;
  EXPECT_EQ(model::team_bytes(Kernel::fused, work, {64, 64}, 1).accumulator, 16 * 1024);
  EXPECT_EQ(model::team_bytes(Kernel::stats, work, {64, 64}, 1).accumulator, 0);
  work.shape.head_dim = work.shape.value_dim = 128;
  EXPECT_EQ(model::team_bytes(Kernel::fused, work, {128, 128}, 1).accumulator, 64 * 1024);
  EXPECT_EQ(model::team_bytes(Kernel::fused, work, {128, 32}, 2).keys_values, 2 * 32 * 256 * 2);
}

TEST(TuningSpace, PrunesByRegistersScratchAndCacheAndSaysWhy) {
  TuneSpace const space = {{64, 128}, {32, 64, 128}, {4, 8}, {2, 3, 4}};
  model::OnChip const chip = {.scratch = 40936, .registers = 224, .lanes = 32};
  auto const all = candidates(problem(Kernel::fused, 4096, 128), space, {{128, 32}, 4, 2}, chip);
  EXPECT_EQ(all.size(), 36u);
  EXPECT_THAT(pruned(all, {{64, 32}, 4, 2}), IsEmpty());
  EXPECT_EQ(pruned(all, {{64, 32}, 4, 3}), "scratch: a team needs 48.0 KiB (3 stages), and there are 40.0");
  // 128 rows: 64 KiB of accumulator are 128 registers a lane, Q 64, and the scores of 128 keys as many again.
  model::OnChip const ample = {.scratch = 1e9, .registers = 224, .lanes = 32};
  auto const spills = candidates(problem(Kernel::fused, 4096, 128), space, {{64, 32}, 4, 2}, ample);
  EXPECT_EQ(pruned(spills, {{128, 128}, 4, 2}),
            "registers: 320 a lane for Q, scores and the accumulator of 64 KiB, and there are 224: the rest "
            "spills to memory");
  EXPECT_THAT(pruned(spills, {{128, 128}, 8, 2}), IsEmpty());
  model::OnChip const host = {.cache = 256 * 1024, .queries_in_scratch = true, .state_in_scratch = true};
  auto const cached = candidates(problem(Kernel::fused, 4096, 128, DType::fp32), {{256, 512}, {64}, {1}, {1}},
                                 {{64, 64}, 1, 1}, host);
  EXPECT_THAT(pruned(cached, {{512, 64}, 1, 1}),
              HasSubstr("cache: a team works on 704 KiB (accumulator 256)"));
}

measure::BackendInfo hip_on(std::string const& device) {
  measure::BackendInfo info;
  info.name = "hip";
  info.device = device;
  info.scratch_bytes[0] = 57 * 1024;
  info.scratch_bytes[1] = 1e6;
  return info;
}

// 64 lanes a wavefront; Kokkos' part of 64 KiB of LDS; 512 registers a lane from gfx90a on, half on gfx908.
TEST(TuningSpace, AmdsBudgets) {
  for (char const* device : {"AMD Instinct MI250X (gfx90a)", "AMD Instinct MI300X (gfx942)", " (gfx942)"}) {
    model::OnChip const chip = on_chip("mfma", hip_on(device), 8e6);
    EXPECT_EQ(chip.scratch, 57 * 1024);
    EXPECT_EQ(chip.registers, 448) << device;
    EXPECT_EQ(chip.lanes, 64);
    EXPECT_EQ(chip.cache, 0) << "LDS and registers are the limits";
  }
  EXPECT_EQ(on_chip("mfma", hip_on("AMD Instinct MI100 (gfx908)"), 8e6).registers, 224);
  model::OnChip const simt = on_chip("simt", hip_on("AMD Instinct MI250X (gfx90a)"), 8e6);
  EXPECT_EQ(simt.lanes, 64);
  EXPECT_EQ(simt.scratch, 57 * 1024);
  EXPECT_TRUE(simt.state_in_scratch);
}

TEST(TuningSpace, PrunesOnAmdByWhatItsLanesHave) {
  TuneSpace const space = {{256}, {32, 64, 128}, {4}, {1}};
  auto const on = [&](char const* device) {
    return candidates(problem(Kernel::fused, 4096, 128), space, {{64, 32}, 4, 1},
                      on_chip("mfma", hip_on(device), 8e6));
  };
  auto const mi250 = on("AMD Instinct MI250X (gfx90a)");
  auto const mi100 = on("AMD Instinct MI100 (gfx908)");
  // 256 rows on 256 lanes: 128 registers of accumulator, 64 of Q, and 32, 64 or 128 of scores.
  EXPECT_THAT(pruned(mi250, {{256, 32}, 4, 1}), IsEmpty());
  EXPECT_THAT(pruned(mi100, {{256, 32}, 4, 1}), IsEmpty());
  EXPECT_THAT(pruned(mi250, {{256, 64}, 4, 1}), IsEmpty());
  EXPECT_EQ(pruned(mi100, {{256, 64}, 4, 1}),
            "registers: 256 a lane for Q, scores and the accumulator of 128 KiB, and there are 224: the rest "
            "spills to memory");
  EXPECT_EQ(pruned(mi100, {{256, 128}, 4, 1}),
            "scratch: a team needs 64.0 KiB (1 stages), and there are 57.0");
}

TEST(TuningSpace, PrunesWhatASmallerTileDoesAsWell) {
  TuneSpace const space = {{64, 128, 256}, {32, 64}, {1}, {1}};
  auto const all = candidates(problem(Kernel::fused, 100, 64), space, {{64, 32}, 1, 1}, {});
  EXPECT_THAT(pruned(all, {{128, 64}, 1, 1}), IsEmpty());
  EXPECT_EQ(pruned(all, {{256, 64}, 1, 1}), "q: 100 query rows are one tile of 128 already");
}

TEST(TuningSpace, TheTablesTileIsACandidateAndNeverPruned) {
  auto const all = candidates(problem(Kernel::fused, 4096, 128), {{64}, {32}, {4}, {2}}, {{512, 128}, 1, 1},
                              {.scratch = 1});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].pruned, HasSubstr("scratch"));
  EXPECT_TRUE(all[1].table);
  EXPECT_THAT(all[1].pruned, IsEmpty());
}

}  // namespace
}  // namespace flashpad::tuning
