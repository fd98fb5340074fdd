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
