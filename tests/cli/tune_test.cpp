// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace flashpad::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// With tune.yaml in the folder: one small problem and four tiles, on one thread.
class TuneTest : public Cli {
 protected:
  TuneTest() {
    setenv("FLASHPAD_TUNING_CACHE", "cache/tuning.json", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    write("tune.yaml", text());
  }
  ~TuneTest() override {
    setenv("FLASHPAD_TUNING_CACHE", "off", 1);
    unsetenv("OMP_NUM_THREADS");
  }

  static std::string text(std::string const& kernels = "fused", std::string const& more = "") {
    return "problem: {batch: 1, heads: 2, seq: 96, head_dim: 32}\nkernels: " + kernels +
           "\nbackend: " FLASHPAD_HOST_BACKEND "\ntune: {q: [32, 64], k: [32, 64]" + more +
           "}\ntiming: {warmup: 1, repetitions: 3, cache: warm}\noutput: {json: tune.json}\n";
  }
  /// The file with the timings of a search that is not finished; empty where there is none.
  [[nodiscard]] std::string journal() const {
    if (!exists("cache")) return "";
    for (auto const& entry : std::filesystem::directory_iterator(m_folder / "cache")) {
      std::string const name = entry.path().filename().string();
      if (name.find(".search-") != std::string::npos && std::filesystem::file_size(entry.path()) > 0)
        return "cache/" + name;
    }
    return "";
  }
  [[nodiscard]] nlohmann::json cached() const { return json("cache/tuning.json")["entries"]; }
};

TEST_F(TuneTest, FindsATileAndRunTakesIt) {
  Finished const tuned = flashpad({"tune", "tune.yaml"});
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  nlohmann::json const document = json("tune.json");
  EXPECT_EQ(document["kind"], "tune");
  ASSERT_EQ(document["searches"].size(), 1u);
  nlohmann::json const& search = document["searches"][0];
  EXPECT_EQ(search["status"], "tuned");
  EXPECT_GT(search["cost"]["search_s"], 0);
  int winners = 0;
  int tables = 0;
  double best = 1;
  for (nlohmann::json const& row : document["rows"]) {
    winners += row["winner"].get<bool>() ? 1 : 0;
    tables += row["table"].get<bool>() ? 1 : 0;
    if (row["pruned"] == true) continue;
    EXPECT_EQ(row["verified"], true);
    EXPECT_LE(row["max_abs_err"], row["tolerance"]);
    if (!row["final_median_s"].is_null()) best = std::min(best, row["final_median_s"].get<double>());
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(tables, 1);
  EXPECT_EQ(search["winner_median_s"], best);

  ASSERT_EQ(cached().size(), 1u);
  EXPECT_EQ(cached()[0]["winner"], search["winner"]);
  EXPECT_EQ(cached()[0]["key"], search["key"]);

  ASSERT_EQ(flashpad({"run", "tune.yaml", "--json", "rows.json"}).code, 0);
  nlohmann::json const row = json("rows.json")["rows"][0];
  EXPECT_EQ(row["tile_from"], "cache");
  EXPECT_EQ(row["tile"], std::to_string(search["winner"]["q"].get<int>()) + "x" +
                             std::to_string(search["winner"]["k"].get<int>()));
  EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("cache/tuning.json"));
}

TEST_F(TuneTest, RunFollowsTheCacheAndNotItsTable) {
  ASSERT_EQ(flashpad({"tune", "tune.yaml"}).code, 0);
  nlohmann::json cache = json("cache/tuning.json");
  cache["entries"][0]["winner"]["q"] = 16;
  cache["entries"][0]["winner"]["k"] = 24;
  write("cache/tuning.json", cache.dump());
  ASSERT_EQ(flashpad({"run", "tune.yaml", "--json", "rows.json"}).code, 0);
  EXPECT_EQ(json("rows.json")["rows"][0]["tile"], "16x24");
  ASSERT_EQ(flashpad({"run", "tune.yaml", "--json", "rows.json", "--set", "tile={q: 48, k: 32}"}).code, 0);
  EXPECT_EQ(json("rows.json")["rows"][0]["tile"], "48x32");
  EXPECT_EQ(json("rows.json")["rows"][0]["tile_from"], "asked");
}

TEST_F(TuneTest, WarmSearchesOnlyWhatIsMissing) {
  ASSERT_EQ(flashpad({"tune", "tune.yaml", "--warm"}).code, 0);
  Finished const again = flashpad({"tune", "tune.yaml", "--warm", "--set", "problem.batch=[1, 3]"});
  ASSERT_EQ(again.code, 0) << again.err;
  nlohmann::json const searches = json("tune.json")["searches"];
  ASSERT_EQ(searches.size(), 2u);
  for (auto const& search : searches) EXPECT_EQ(search["status"], "cached") << "the batch is not in the key";
  EXPECT_THAT(again.out, HasSubstr("cached: "));
  ASSERT_EQ(flashpad({"tune", "tune.yaml", "--warm", "--set", "problem.seq=[96, 200]"}).code, 0);
  EXPECT_EQ(json("tune.json")["searches"][0]["status"], "cached");
  EXPECT_EQ(json("tune.json")["searches"][1]["status"], "tuned");
  EXPECT_EQ(cached().size(), 2u);
}

TEST_F(TuneTest, ObservesTheTimingsInOrder) {
  Finished const tuned = flashpad({"tune", "tune.yaml", "--set", "tune.observe={seq: 200, batch: 3}"});
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  std::size_t at = 0;
  for (char const* line :
       {"1. first call at a new key: ", "2. steady state, tile ", "3. length 96 changed to 200, in the key",
        "4. batch 1 changed to 3, not in the key: no search", "a key without the length: at 200"}) {
    std::size_t const found = tuned.out.find(line, at);
    ASSERT_NE(found, std::string::npos) << line << '\n' << tuned.out;
    at = found;
  }
  nlohmann::json const observed = json("tune.json")["observed"];
  EXPECT_EQ(observed["steady"]["tile_from"], "cache");
  EXPECT_EQ(observed["other_length"]["status"], "tuned");
  EXPECT_EQ(observed["other_batch"]["tile_from"], "cache");
  EXPECT_EQ(observed["other_batch"]["tile"], observed["steady"]["tile"]);
  EXPECT_EQ(observed["left_out"]["tile"], observed["steady"]["tile"]);
  EXPECT_EQ(observed["left_out"]["seq_k"], 200);
  EXPECT_EQ(observed["own"]["tile_from"], "cache");
  EXPECT_GT(observed["first_call_s"], observed["steady"]["median_s"]);
  EXPECT_EQ(cached().size(), 2u);
}

TEST_F(TuneTest, SaysThatTheOtherLengthsSearchFailed) {
  Finished const tuned = flashpad(
      {"tune", "tune.yaml", "--set", "tune.observe={seq: 20000, batch: 3}", "--set", "memory_limit=5000000"});
  EXPECT_EQ(tuned.code, 1);
  EXPECT_THAT(tuned.out, HasSubstr("3. length 96 changed to 20000, in the key: the search is paid again, "));
  EXPECT_THAT(tuned.out, HasSubstr("; and failed: tune: none of "));
  EXPECT_THAT(tuned.out, HasSubstr("4. batch 1 changed to 3"));
  EXPECT_THAT(tuned.out, Not(HasSubstr("a key without the length")));
  expect_one_error_line(tuned);
  nlohmann::json const observed = json("tune.json")["observed"];
  EXPECT_EQ(observed["other_length"]["status"], "failed");
  EXPECT_TRUE(observed["own"].is_null());
  EXPECT_EQ(cached().size(), 1u) << "the first length's";
}

TEST_F(TuneTest, ASpoiledCacheIsNamedAndRebuilt) {
  ASSERT_EQ(flashpad({"tune", "tune.yaml"}).code, 0);
  write("cache/tuning.json", "{\"format\":");
  ASSERT_EQ(flashpad({"run", "tune.yaml", "--json", "rows.json"}).code, 0);
  EXPECT_EQ(json("rows.json")["rows"][0]["tile_from"], "table");
  EXPECT_THAT(json("rows.json")["rows"][0]["reason"].get<std::string>(),
              HasSubstr("refused: it is not JSON"));
  Finished const again = flashpad({"tune", "tune.yaml"});
  ASSERT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("cache/tuning.json: refused: it is not JSON"));
  EXPECT_EQ(cached().size(), 1u);
}

TEST_F(TuneTest, TwoAtOnceAreSafe) {
  write("other.yaml", text("stats"));
  pid_t const one = start({"tune", "tune.yaml"});
  pid_t const other = start({"tune", "other.yaml", "--json", "other.json"});
  EXPECT_EQ(wait_for(one).code, 0);
  EXPECT_EQ(wait_for(other).code, 0);
  EXPECT_EQ(cached().size(), 2u);
}

// Both keep their timings in one journal, and store one entry.
TEST_F(TuneTest, TwoMayTuneTheSameProblemAtOnce) {
  pid_t const one = start({"tune", "tune.yaml"});
  pid_t const other = start({"tune", "tune.yaml", "--json", "other.json"});
  for (pid_t const process : {one, other}) {
    Finished const finished = wait_for(process);
    EXPECT_EQ(finished.code, 0) << finished.err;
  }
  ASSERT_EQ(cached().size(), 1u);
  nlohmann::json const winner = cached()[0]["winner"];
  EXPECT_TRUE(winner == json("tune.json")["searches"][0]["winner"] ||
              winner == json("other.json")["searches"][0]["winner"]);
  EXPECT_EQ(journal(), "");
}

TEST_F(TuneTest, AKilledSearchIsResumed) {
  std::vector<std::string> const slow = {"tune",  "tune.yaml",      "--set", "timing.repetitions=300",
                                         "--set", "problem.seq=500"};
  pid_t const process = start(slow);
  for (int i = 0; i < 12000 && journal().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(process, SIGKILL);
  static_cast<void>(wait_for(process));
  ASSERT_FALSE(exists("cache/tuning.json"));
  EXPECT_FALSE(exists("tune.json"));
  Finished const resumed = flashpad(slow);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_GE(json("tune.json")["searches"][0]["resumed"], 1);
  EXPECT_EQ(cached().size(), 1u);
}

TEST_F(TuneTest, AnInterruptedSearchIsResumed) {
  // Long enough that the signal finds it searching.
  std::vector<std::string> const slow = {"tune",  "tune.yaml",      "--set", "timing.repetitions=300",
                                         "--set", "problem.seq=500"};
  pid_t const process = start(slow);
  for (int i = 0; i < 3000 && journal().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(process, SIGINT);
  Finished const stopped = wait_for(process);
  ASSERT_EQ(stopped.code, 130) << stopped.out;
  EXPECT_THAT(stopped.err, HasSubstr("interrupted; the same command goes on from here"));
  EXPECT_EQ(json("tune.json")["context"]["interrupted"], true);
  ASSERT_FALSE(journal().empty());
  ASSERT_FALSE(exists("cache/tuning.json")) << "nothing is stored before the end";
  Finished const resumed = flashpad(slow);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_GE(json("tune.json")["searches"][0]["resumed"], 1);
  EXPECT_THAT(resumed.out, HasSubstr("resumed"));
  EXPECT_EQ(journal(), "") << "a finished search leaves no journal";
  ASSERT_EQ(cached().size(), 1u);
}

TEST_F(TuneTest, ATerminalSeesProgressAndTheTimeLeft) {
  Finished const tuned = flashpad_on_terminal({"tune", "tune.yaml"});
  ASSERT_EQ(tuned.code, 0) << tuned.out;
  EXPECT_THAT(tuned.out, ::testing::ContainsRegex("\\[1/[0-9]+\\] 32x32"));
  EXPECT_THAT(tuned.out, ::testing::ContainsRegex("\\[3/[0-9]+\\] 64x32, [0-9.]+ [um]?s left"));
  EXPECT_THAT(tuned.out, HasSubstr("finals: "));
}

// A line that wraps cannot be overwritten.
TEST_F(TuneTest, ProgressFitsANarrowTerminal) {
  constexpr std::size_t columns = 12;
  setenv("COLUMNS", "12", 1);
  for (std::vector<std::string> const& arguments :
       {std::vector<std::string>{"tune", "tune.yaml", "--fresh"}, {"run", "tune.yaml"}}) {
    Finished const finished = flashpad_on_terminal(arguments);
    ASSERT_EQ(finished.code, 0) << finished.out;
    std::size_t lines = 0;
    constexpr char const* start = "\r\033[K[";
    for (std::size_t at = finished.out.find(start); at != std::string::npos;
         at = finished.out.find(start, at + 1)) {
      std::size_t const begin = at + 4;
      EXPECT_LT(finished.out.find('\r', begin) - begin, columns);
      ++lines;
    }
    EXPECT_GT(lines, 0u) << arguments.front();
  }
  unsetenv("COLUMNS");
}

/// Two jobs were refused for want of a processor, or a GPU, for each; another error is a failure.
bool shares_processors(Finished const& finished) {
  return finished.code == 2 && finished.err.find("--jobs: 2 jobs ") != std::string::npos &&
         finished.err.find(" would share ") != std::string::npos;
}

TEST_F(TuneTest, JobsTimeASearchTogether) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  Finished const tuned = flashpad({"tune", "tune.yaml", "--jobs", "2"});
  if (shares_processors(tuned)) GTEST_SKIP() << tuned.err;
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  int timed = 0;
  nlohmann::json const rows = json("tune.json")["rows"];
  for (auto const& row : rows) {
    if (row["pruned"] == true) continue;
    ++timed;
    EXPECT_EQ(row["resumed"], true) << "by a job";
  }
  EXPECT_GE(timed, 4);
  Finished const many = flashpad({"tune", "tune.yaml", "--jobs", "1000"});
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err, HasSubstr("--jobs: 1000 jobs of 1 threads each would share"));
}

TEST_F(TuneTest, InterruptedJobsAreResumedToo) {
  std::vector<std::string> const slow = {"tune",  "tune.yaml",       "--set",  "timing.repetitions=300",
                                         "--set", "problem.seq=500", "--jobs", "2"};
  pid_t const process = start(slow);
  for (int i = 0; i < 12000 && journal().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(process, SIGINT);  // which its jobs get from it
  Finished const stopped = wait_for(process);
  if (shares_processors(stopped)) GTEST_SKIP() << stopped.err;
  ASSERT_EQ(stopped.code, 130) << stopped.out << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("interrupted; the same command goes on from here"));
  EXPECT_FALSE(exists("cache/tuning.json"));
  Finished const resumed = flashpad(slow);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_GE(json("tune.json")["searches"][0]["resumed"], 1);
}

TEST_F(TuneTest, WhatCannotBeStoredIsToldAndKeptForTheNextTime) {
  std::filesystem::create_directories(m_folder / "cache" / "tuning.json.lock");
  Finished const lost = flashpad({"tune", "tune.yaml"});
  EXPECT_EQ(lost.code, 1);
  EXPECT_THAT(lost.out, HasSubstr("64x64"));
  EXPECT_THAT(lost.err, HasSubstr("cache/tuning.json.lock: cannot be locked"));
  expect_one_error_line(lost);
  EXPECT_EQ(json("tune.json")["searches"][0]["status"], "failed");
  std::filesystem::remove(m_folder / "cache" / "tuning.json.lock");
  ASSERT_EQ(flashpad({"tune", "tune.yaml"}).code, 0);
  EXPECT_GE(json("tune.json")["searches"][0]["resumed"], 4);
}

TEST_F(TuneTest, AllFailedIsAnErrorAndStoresNothing) {
  Finished const finished =
      flashpad({"tune", "tune.yaml", "--set", "engine=simt", "--set", "memory_limit=1024"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("none of "));
  EXPECT_EQ(json("tune.json")["searches"][0]["status"], "failed");
  EXPECT_FALSE(exists("cache/tuning.json"));
}

TEST_F(TuneTest, PrunesWithReasons) {
  ASSERT_EQ(flashpad({"tune", "tune.yaml", "--set", "tune.team=[1, 2]"}).code, 0);
  int pruned = 0;
  nlohmann::json const rows = json("tune.json")["rows"];
  for (auto const& row : rows) {
    if (row["team"] != 2) continue;
    ++pruned;
    EXPECT_EQ(row["status"], "pruned");
    EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("team_size: 2 is not for engine"));
    EXPECT_TRUE(row["median_s"].is_null());
  }
  EXPECT_EQ(pruned, 4);
}

TEST_F(TuneTest, RefusesWhatHasNothingToTune) {
  struct Case {
    std::vector<std::string> arguments;
    char const* error;
  };
  for (Case const& one :
       {Case{{"--set", "kernels=naive"}, "kernels: naive has no tile to tune"},
        Case{{"--set", "tile={q: 32, k: 32}"}, "tile, team, stages: given"},
        Case{{"--set", "verify=false"}, "verify: found false; allowed: true"},
        Case{{"--set", "problem.batch=0"}, "problem: b0_h2_n96_d32_fp32_none is empty"},
        Case{{"--set", "problem.seq=[8, 0]"}, "problem: b1_h2_n0_d32_fp32_none is empty"},
        Case{{"--cache", ""}, "--cache: is empty; allowed: some text"},
        Case{{"--cache", "one.json", "--json", "./one.json"},
             "--json: './one.json' is also the tuning cache"},
        Case{{"--cache", "tune.yaml"}, "--cache: 'tune.yaml' is also the experiment itself"},
        Case{{"--set", "problem.seq=[8, 9]", "--set", "tune.observe={seq: 16, batch: 2}"},
             "tune.observe: is for one case, and there are 2"},
        Case{{"--set", "tune.observe={seq: 96, batch: 2}"}, "tune.observe.seq: is the problem's own"}}) {
    std::vector<std::string> arguments = {"tune", "tune.yaml"};
    arguments.insert(arguments.end(), one.arguments.begin(), one.arguments.end());
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2) << one.error;
    EXPECT_THAT(finished.err, HasSubstr(one.error));
    expect_one_error_line(finished);
  }
  setenv("FLASHPAD_TUNING_CACHE", "off", 1);
  Finished const off = flashpad({"tune", "tune.yaml"});
  EXPECT_EQ(off.code, 2);
  EXPECT_THAT(off.err, HasSubstr("--cache: not given, and the tuning cache is off"));
  EXPECT_THAT(left_behind(), IsEmpty());
}

}  // namespace
}  // namespace flashpad::cli
