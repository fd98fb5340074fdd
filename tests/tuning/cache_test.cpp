// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.hpp"
#include "tuning/store.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace flashpad::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TuningCache : public WithCache {
 protected:
  /// The cache with one entry, as JSON to spoil.
  [[nodiscard]] static nlohmann::json good() {
    Cache cache;
    Entry const entry = entry_for(key_for(64));
    cache.entries[entry.key] = entry;
    return nlohmann::json::parse(cache_text(cache));
  }
  /// What reading the document refuses.
  [[nodiscard]] std::vector<std::string> refusals(nlohmann::json const& document) const {
    write(document.dump());
    return read_cache(m_cache, "1.2.3").refused;
  }
};

TEST_F(TuningCache, ComesBackAsItWasStored) {
  Entry const entry = entry_for(key_for(64));
  EXPECT_THAT(store(m_cache, "1.2.3", entry), IsEmpty());
  Cache const cache = read_cache(m_cache, "1.2.3");
  EXPECT_THAT(cache.refused, IsEmpty());
  ASSERT_EQ(cache.entries.size(), 1u);
  Entry const& back = cache.entries.at(entry.key);
  EXPECT_EQ(back.winner, entry.winner);
  EXPECT_EQ(back.median_s, entry.median_s);
  EXPECT_EQ(back.case_name, entry.case_name);
}

TEST_F(TuningCache, AFileThatIsNotThereIsEmpty) {
  Cache const cache = read_cache(m_cache, "1.2.3");
  EXPECT_THAT(cache.entries, IsEmpty());
  EXPECT_THAT(cache.refused, IsEmpty());
}

TEST_F(TuningCache, WhatIsNoFileIsRefusedAndNotRead) {
  ASSERT_EQ(mkfifo((m_cache + ".fifo").c_str(), 0600), 0);
  for (std::string const& file : {m_cache + ".fifo", std::string("/dev/zero"), std::string("/")})
    EXPECT_THAT(read_cache(file, "1.2.3").refused, ElementsAre(file + ": refused: it is no regular file"));
}

TEST_F(TuningCache, StoringKeepsTheOthersAndReplacesItsOwn) {
  store(m_cache, "1.2.3", entry_for(key_for(64)));
  store(m_cache, "1.2.3", entry_for(key_for(1024)));
  Entry better = entry_for(key_for(64));
  better.winner.tile = {512, 128};
  store(m_cache, "1.2.3", better);
  Cache const cache = read_cache(m_cache, "1.2.3");
  ASSERT_EQ(cache.entries.size(), 2u);
  EXPECT_EQ(cache.entries.at(better.key).winner.tile, (Tile{512, 128}));
}

TEST_F(TuningCache, ACutOffFileIsRefusedByNameKeptAndRebuilt) {
  store(m_cache, "1.2.3", entry_for(key_for(64)));
  std::string const cut = read().substr(0, 100);
  write(cut);
  Cache const cache = read_cache(m_cache, "1.2.3");
  EXPECT_THAT(cache.entries, IsEmpty());
  EXPECT_THAT(cache.refused, ElementsAre(m_cache + ": refused: it is not JSON"));

  EXPECT_THAT(store(m_cache, "1.2.3", entry_for(key_for(64))), ElementsAre(HasSubstr(m_cache + ".refused")));
  EXPECT_EQ(read_cache(m_cache, "1.2.3").entries.size(), 1u);
  std::ostringstream kept;
  kept << std::ifstream(m_cache + ".refused").rdbuf();
  EXPECT_EQ(kept.str(), cut) << "a file that may be anything is not thrown away";
}

TEST_F(TuningCache, AnotherProgramsFileIsRefused) {
  EXPECT_THAT(refusals({{"rows", nlohmann::json::array()}}),
              ElementsAre(HasSubstr("not a `flashpad tuning cache`")));
  EXPECT_THAT(refusals(nlohmann::json::array({1, 2})),
              ElementsAre(HasSubstr("not a `flashpad tuning cache`")));
  nlohmann::json document = good();
  document["version"] = 2;
  EXPECT_THAT(refusals(document), ElementsAre(HasSubstr("its format has version 2; allowed: 1")));
  document = good();
  document["entries"] = 3;
  EXPECT_THAT(refusals(document), ElementsAre(HasSubstr("entries: missing")));
}

TEST_F(TuningCache, AnEntryOfAnotherVersionIsRefusedByNameAndDropped) {
  store(m_cache, "1.2.2", entry_for(key_for(64, "1.2.2")));
  Cache const cache = read_cache(m_cache, "1.2.3");
  EXPECT_THAT(cache.entries, IsEmpty());
  EXPECT_THAT(cache.refused,
              ElementsAre(m_cache + ": entries[0]: refused: it is of Flashpad 1.2.2, this is 1.2.3"));
  EXPECT_THAT(store(m_cache, "1.2.3", entry_for(key_for(64))), ElementsAre(HasSubstr("entries[0]")));
  EXPECT_THAT(read_cache(m_cache, "1.2.3").refused, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(m_cache + ".refused")) << "the file itself was sound";
}

struct Spoiled {
  char const* pointer;
  nlohmann::json value;
  char const* why;
};

TEST_F(TuningCache, SpoiledEntriesAreRefusedAndTheOthersKept) {
  for (Spoiled const& spoiled : {
           Spoiled{"/winner/q", -5, "q: found -5; allowed: a whole number from 1 to 65536"},
           Spoiled{"/winner/q", 0, "q: found 0"},
           Spoiled{"/winner/k", "64", "k: found \"64\""},
           Spoiled{"/winner/team", 1e9, "team: found 1000000000.0"},
           Spoiled{"/winner", 7, "q: missing"},
           Spoiled{"/median_s", 0, "median_s: found 0; allowed: a number above 0"},
           Spoiled{"/median_s", nullptr, "median_s: found null"},
           Spoiled{"/verified", false, "verified: it was not"},
           Spoiled{"/key/flashpad", "1\n2", "flashpad: found \"1\\n2\"; allowed: text on one line"},
           Spoiled{"/case", std::string(300, 'x'), "case: found \"xxx"},
           Spoiled{"/key/head_dim", "64", "head_dim: found \"64\""},
           Spoiled{"/key/more", 1, "key: has fields of another form"},
           Spoiled{"/key", "text", "device: missing"},
       }) {
    nlohmann::json document = good();
    document["entries"].push_back(nlohmann::json::parse(cache_text([] {
      Cache other;
      other.entries[key_for(4096)] = entry_for(key_for(4096));
      return other;
    }()))["entries"][0]);
    document["entries"][0][nlohmann::json::json_pointer(spoiled.pointer)] = spoiled.value;
    EXPECT_THAT(refusals(document),
                ElementsAre(HasSubstr(m_cache + ": entries[0]: refused: " + spoiled.why)));
    EXPECT_EQ(read_cache(m_cache, "1.2.3").entries.count(key_for(4096)), 1u) << spoiled.pointer;
  }
}

TEST_F(TuningCache, DeepNestingIsRefusedInLittleStack) {
  for (std::string const& deep :
       {std::string(1000000, '['), "{\"format\": " + std::string(1000000, '[') + "}"}) {
    write(deep);
    EXPECT_THAT(read_cache(m_cache, "1.2.3").refused, ElementsAre(HasSubstr("nested deeper than 8 levels")));
  }
}

TEST_F(TuningCache, ARepeatedKeyIsRefused) {
  nlohmann::json document = good();
  document["entries"].push_back(document["entries"][0]);
  EXPECT_THAT(refusals(document),
              ElementsAre(HasSubstr("entries[1]: refused: key: another entry has it too")));
}

TEST_F(TuningCache, SeveralProcessesAtOnceLoseNothing) {
  constexpr int processes = 4;
  constexpr int stores = 25;
  for (int p = 0; p < processes; ++p) {
    if (fork() != 0) continue;
    int status = 0;
    for (int i = 0; i < stores; ++i) {
      std::string const version = "1.2.3";
      Entry entry = entry_for(key_for(64));
      entry.key = nlohmann::json::parse(entry.key).dump();
      nlohmann::json key = nlohmann::json::parse(entry.key);
      key["head_dim"] = 1000 * p + i;
      entry.key = key.dump();
      if (!store(m_cache, version, entry).empty()) status = 1;  // it read half of a file
    }
    _exit(status);
  }
  for (int p = 0; p < processes; ++p) {
    int status = 0;
    wait(&status);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(read_cache(m_cache, "1.2.3").entries.size(), std::size_t{processes * stores});
}

TEST_F(TuningCache, AKilledProcessLeavesItWholeAndUnlocked) {
  constexpr int rounds = 30;
  store(m_cache, "1.2.3", entry_for(key_for(64)));
  for (int round = 0; round < rounds; ++round) {
    pid_t const child = fork();
    if (child == 0) {
      for (;;) store(m_cache, "1.2.3", entry_for(key_for(1024)));
    }
    usleep(static_cast<useconds_t>(1000 + 137 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended by itself";
    Cache const cache = read_cache(m_cache, "1.2.3");
    ASSERT_THAT(cache.refused, IsEmpty()) << "after round " << round;
    ASSERT_EQ(cache.entries.count(key_for(64)), 1u);
  }
  EXPECT_THAT(store(m_cache, "1.2.3", entry_for(key_for(4096))), IsEmpty());
  EXPECT_EQ(read_cache(m_cache, "1.2.3").entries.count(key_for(4096)), 1u);
}

// A program that makes plans reads the file: it must not take its memory.
TEST_F(TuningCache, AFileThatIsNoCachesSizeIsRefusedUnread) {
  store(m_cache, "1.2.3", entry_for(key_for(64)));
  std::filesystem::resize_file(m_cache, std::uintmax_t{1} << 40);  // takes no blocks
  EXPECT_THAT(read_cache(m_cache, "1.2.3").refused,
              ElementsAre(m_cache + ": refused: it has 1099511627776 bytes; allowed: up to 67108864"));
  EXPECT_THAT(store(m_cache, "1.2.3", entry_for(key_for(64))), ElementsAre(HasSubstr(m_cache + ".refused")));
  EXPECT_THAT(read_cache(m_cache, "1.2.3").refused, IsEmpty());
}

TEST(TuningKey, HasWhatChangesTheBestTileAndNoMore) {
  Place const place = {"processor", "", "openmp", 2, "1.2.3"};
  Shape shape = {
      .batch = 1, .heads = 8, .kv_heads = 8, .seq_q = 1000, .seq_k = 1000, .head_dim = 64, .value_dim = 64};
  auto const key = [&](Place const& p, Shape const& s, DType dtype = DType::fp32, Mask mask = {},
                       Kernel kernel = Kernel::fused,
                       char const* engine = "a") { return key_of(p, s, dtype, mask, kernel, engine); };
  std::string const base = key(place, shape);
  Shape other = shape;
  other.batch = 7;
  other.heads = other.kv_heads = 3;
  EXPECT_EQ(key(place, other), base) << "batch and heads are not in it";
  other = shape;
  other.seq_q = other.seq_k = 600;
  EXPECT_EQ(key(place, other), base) << "the same bucket";
  other.seq_k = 512;
  EXPECT_NE(key(place, other), base);
  other = shape;
  other.value_dim = 32;
  EXPECT_NE(key(place, other), base);
  EXPECT_NE(key(place, shape, DType::bf16), base);
  EXPECT_NE(key(place, shape, DType::fp32, Mask::causal()), base);
  EXPECT_NE(key(place, shape, DType::fp32, Mask{}, Kernel::stats), base);
  EXPECT_NE(key(place, shape, DType::fp32, Mask{}, Kernel::fused, "b"), base);
  for (Place const& elsewhere :
       {Place{"another", "", "openmp", 2, "1.2.3"}, Place{"processor", "cuda 13.0", "openmp", 2, "1.2.3"},
        Place{"processor", "", "serial", 2, "1.2.3"}, Place{"processor", "", "openmp", 4, "1.2.3"},
        Place{"processor", "", "openmp", 2, "1.2.4"}}) {
    EXPECT_NE(key(elsewhere, shape), base);
  }
  EXPECT_EQ(bucket(0), 0);
  EXPECT_EQ(bucket(1), 1);
  EXPECT_EQ(bucket(512), 512);
  EXPECT_EQ(bucket(513), 1024);
}

}  // namespace
}  // namespace flashpad::tuning
