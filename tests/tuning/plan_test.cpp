// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan's tile from the tuning cache: through the library's public interface alone, on a file that store()
// wrote.
#include <flashpad/attention.hpp>
#include <flashpad/tuning.hpp>

#include "model/on_chip.hpp"
#include "support.hpp"
#include "tuning/store.hpp"

#include <gmock/gmock.h>

namespace flashpad::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Exec = Kokkos::DefaultHostExecutionSpace;

class TunedPlan : public WithCache {
 protected:
  TunedPlan() { set_tuning_cache(m_cache); }
  ~TunedPlan() override { set_tuning_cache(""); }

  [[nodiscard]] Choice choice(Options options = {}) const {
    if (options.kernel == Kernel::automatic) options.kernel = Kernel::fused;
    return Plan<Exec>(Exec(), m_shape, DType::fp32, options).choice();
  }
  /// Files a tile under the key of the plan as it is.
  void tune(Configuration const& winner, Options const& options = {}) const {
    Entry entry = entry_for(choice(options).tuning_key);
    entry.winner = winner;
    store(m_cache, FLASHPAD_VERSION, entry);
  }

  Shape m_shape = {
      .batch = 1, .heads = 2, .kv_heads = 2, .seq_q = 300, .seq_k = 300, .head_dim = 64, .value_dim = 64};
};

TEST_F(TunedPlan, WithoutAnEntryTheTableDecides) {
  Choice const table = choice();
  EXPECT_EQ(table.tile_from, "table");
  EXPECT_THAT(table.tile_note, IsEmpty());
  EXPECT_THAT(table.tuning_key, HasSubstr("\"kernel\":\"fused\""));
}

TEST_F(TunedPlan, AnAutomaticTileIsTheCaches) {
  Tile const odd = {48, 40};
  ASSERT_NE(choice().tile, odd);
  tune({odd, 1, 1});
  Choice const tuned = choice();
  EXPECT_EQ(tuned.tile, odd);
  EXPECT_EQ(tuned.tile_from, "cache");
  EXPECT_THAT(tuned.tile_note, HasSubstr(m_cache));
  EXPECT_EQ(choice({.kernel = Kernel::automatic}).tile, odd) << "auto chooses fused here";
}

TEST_F(TunedPlan, ATileThatIsAskedForStays) {
  tune({{48, 40}, 1, 1});
  Choice const asked = choice({.tile = {64, 64}});
  EXPECT_EQ(asked.tile, (Tile{64, 64}));
  EXPECT_EQ(asked.tile_from, "asked");
  EXPECT_EQ(choice({.tile = {64, 0}}).tile_from, "asked");
}

TEST_F(TunedPlan, AnotherKeyIsAnotherTile) {
  tune({{48, 40}, 1, 1});
  EXPECT_EQ(choice({.mask = Mask::causal()}).tile_from, "table");
  EXPECT_EQ(choice({.kernel = Kernel::stats}).tile_from, "table");
  m_shape.batch = 3;
  EXPECT_EQ(choice().tile_from, "cache") << "the batch is not in the key";
  m_shape.seq_q = m_shape.seq_k = 600;
  EXPECT_EQ(choice().tile_from, "table");
}

TEST_F(TunedPlan, AFileThatChangesIsReadAgain) {
  tune({{48, 40}, 1, 1});
  ASSERT_EQ(choice().tile, (Tile{48, 40}));
  tune({{80, 56}, 1, 1});
  EXPECT_EQ(choice().tile, (Tile{80, 56}));
  std::filesystem::remove(m_cache);
  EXPECT_EQ(choice().tile_from, "table");
}

TEST_F(TunedPlan, ASpoiledFileIsNamedAndNotUsed) {
  tune({{48, 40}, 1, 1});
  write("{\"format\": ");
  Choice const table = choice();
  EXPECT_EQ(table.tile_from, "table");
  EXPECT_THAT(table.tile_note, HasSubstr(m_cache + ": refused: it is not JSON"));
}

TEST_F(TunedPlan, AnEntryThatDoesNotFitIsPassedOverByName) {
  tune({{65536, 65536}, 1, 1});
  Choice const table = choice();
  EXPECT_EQ(table.tile_from, "table");
  EXPECT_THAT(table.tile_note, HasSubstr("passed over: tile: 65536x65536 needs"));
}

TEST_F(TunedPlan, ACacheThatIsOffIsNotRead) {
  tune({{48, 40}, 1, 1});
  set_tuning_cache("");
  EXPECT_EQ(choice().tile_from, "table");
  EXPECT_EQ(tuning_cache_file(), "");
}

TEST_F(TunedPlan, TeamsAndStagesThatAnEngineLacksAreRefused) {
  auto const error = [&](Options const& options) -> std::string {
    try {
      static_cast<void>(choice(options));
    } catch (Error const& refused) {
      return refused.what();
    }
    return "accepted";
  };
  EXPECT_THAT(error({.team_size = 2}), HasSubstr("team_size: 2 is not for engine"));
  EXPECT_THAT(error({.stages = 3}), HasSubstr("stages: 3 is not for engine"));
  EXPECT_THAT(error({.team_size = 100000, .engine = "simt"}), HasSubstr("team_size: 100000 is out of range"));
  EXPECT_EQ(error({.team_size = 1, .stages = 1}), "accepted");
}

// The model prunes simt's tiles before they are planned: what it foresees is what a plan takes, but for
// padding.
TEST_F(TunedPlan, TheModelForeseesScratch) {
  model::Work const work = {.shape = m_shape, .mask = {}, .dtype = DType::fp32};
  for (Tile const tile : {Tile{16, 16}, Tile{32, 64}, Tile{128, 32}}) {
    Choice const plan = choice({.tile = tile, .engine = "simt"});
    double const foreseen = model::team_bytes(Kernel::fused, work, tile, 1).total();
    EXPECT_LE(foreseen, plan.scratch_bytes);
    EXPECT_GE(foreseen, 0.9 * plan.scratch_bytes);
  }
}

}  // namespace
}  // namespace flashpad::tuning
