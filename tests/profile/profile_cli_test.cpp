// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../cli/process.hpp"

#include <gmock/gmock.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace flashpad::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ProfileTest = SmallCli;

/// `flashpad profile --simulate`, with a script in valgrind's place that runs the child as it is and writes
/// a profile by hand: bytes depend on the kernel, so that a row cannot pass with another's.
class SimulatedTest : public SmallCli {
 protected:
  void SetUp() override {
#if !__has_include(<valgrind/callgrind.h>)
    GTEST_SKIP() << "the driver was built without valgrind's header";
#endif
  }
  void write_valgrind(std::string const& script) {
    write("valgrind", "#!/bin/sh\n" + script);
    std::filesystem::permissions(m_folder / "valgrind", std::filesystem::perms::owner_all);
  }

  static constexpr char const* works = R"(
for word in "$@"; do
  case "$word" in
    --version) echo valgrind-3.19.0; exit 0 ;;
    --callgrind-out-file=*) file=${word#*=} ;;
    *_naive) lines=100 ;;
    *_fused) lines=25 ;;
  esac
done
while [ "${1#--}" != "$1" ]; do shift; done
cat > "$file" <<EOF
desc: LL cache: 33554432 B, 64 B, 16-way associative
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw
16 1 1 1 1 1 1 0 $lines
totals: 1 1 1 1 1 1 0 $lines
EOF
exec "$@"
)";
};

TEST_F(SimulatedTest, PutsModelAndSimulationSideBySide) {
  write_valgrind(works);
  Finished const finished = flashpad(
      {"profile", "small.yaml", "--simulate", "--profiler", "./valgrind", "--filter", "n64", "--calls", "2"});
  ASSERT_EQ(finished.code, 0) << finished.err << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("callgrind valgrind-3.19.0"));
  EXPECT_THAT(finished.out, HasSubstr("simulated: a model of caches, no measurement"));
  nlohmann::json const document = json("results/small.json");
  EXPECT_EQ(document["context"]["profilers"][0]["name"], "callgrind");
  nlohmann::json const& rows = document["rows"];
  ASSERT_EQ(rows.size(), 2u);
  double const lines[] = {100, 25};
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(rows[r]["status"], "ok");
    EXPECT_EQ(rows[r]["verified"], true);
    EXPECT_EQ(rows[r]["profiler"], "callgrind");
    EXPECT_EQ(rows[r]["profiled_calls"], 2);
    EXPECT_EQ(rows[r]["simulated_bytes"], lines[r] * 64 / 2) << rows[r]["case"];
    EXPECT_TRUE(rows[r]["bytes_measured"].is_null()) << "a simulation is no measurement";
    EXPECT_TRUE(rows[r]["saved_measured"].is_null());
    EXPECT_GT(rows[r]["bytes_model"], 0);
  }
  EXPECT_EQ(rows[1]["saved_model"], 3);
}

TEST_F(SimulatedTest, FailsTheRowOfAGarbledProfile) {
  write_valgrind("[ \"$1\" = --version ] && echo 1; exit 0\n");
  Finished const finished = flashpad({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind",
                                      "--filter", "n64_", "--calls", "1"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("callgrind: its output lacks"));
  EXPECT_EQ(json("results/small.json")["rows"][0]["status"], "failed");
}

TEST_F(SimulatedTest, FailsTheRowOfAChildThatFails) {
  write_valgrind("[ \"$1\" = --version ] && exit 0; echo 'flashpad: error: oom: needs more' >&2; exit 1\n");
  Finished const finished =
      flashpad({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind", "--filter", "n64_"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("oom: needs more"));
}

TEST_F(SimulatedTest, AnInterruptedCaseDidNotFail) {
  write_valgrind("[ \"$1\" = --version ] && exit 0; : > started; exec sleep 60\n");
  pid_t const process = start({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind"});
  for (int i = 0; i < 12'000 && !exists("started"); ++i) ::usleep(10'000);
  EXPECT_TRUE(exists("started"));
  ASSERT_EQ(::kill(process, SIGINT), 0);
  Finished const finished = wait_for(process);  // and not for the minute of the child
  EXPECT_EQ(finished.code, 130);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("interrupted after 0 of 4 cases"));
  EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("failed")));
  EXPECT_FALSE(exists("results/small.json")) << "without a row an earlier result is worth more";
}

TEST_F(SimulatedTest, AnInterruptedProfilerLeavesNothingBehind) {
  write_valgrind("echo \"$TMPDIR\" > folder; : > started; exec sleep 60\n");
  std::filesystem::create_directory(m_folder / "temporary");
  ::setenv("TMPDIR", (m_folder / "temporary").c_str(), 1);
  pid_t const process = start({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind"});
  ::unsetenv("TMPDIR");
  for (int i = 0; i < 12'000 && !exists("started"); ++i) ::usleep(10'000);
  EXPECT_FALSE(std::filesystem::is_empty(m_folder / "temporary")) << "of " << read("folder");
  ASSERT_EQ(::kill(process, SIGINT), 0);  // while it is asked for its version
  Finished const finished = wait_for(process);
  EXPECT_EQ(finished.code, 130);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("interrupted"));
  EXPECT_TRUE(std::filesystem::is_empty(m_folder / "temporary"));
  EXPECT_FALSE(exists("results/small.json"));
}

TEST_F(SimulatedTest, NothingCountedIsAnError) {
  write_valgrind(works);
  Finished const finished = flashpad({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind",
                                      "--filter", "n64_", "--set", "memory_limit=1"});
  EXPECT_EQ(finished.code, 1);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err,
              HasSubstr("nothing was counted: none of 2 cases fits in memory and moves a byte"));
  EXPECT_EQ(json("results/small.json")["rows"][0]["status"], "oom");
}

TEST_F(SimulatedTest, CountsNothingOfACallThatDoesNothing) {
  write_valgrind("[ \"$1\" = --version ] || : > started; exit 0\n");
  Finished const finished = flashpad(
      {"profile", "small.yaml", "--simulate", "--profiler", "./valgrind", "--set", "problem.seq=[0]"});
  EXPECT_EQ(finished.code, 1);
  expect_one_error_line(finished);
  nlohmann::json const row = json("results/small.json")["rows"][0];
  EXPECT_EQ(row["status"], "ok");
  EXPECT_TRUE(row["simulated_bytes"].is_null());
  EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("moves no byte"));
  EXPECT_FALSE(exists("started"));
}

TEST_F(SimulatedTest, PutsAProfilersWordsInOneLine) {
  write_valgrind(
      "[ \"$1\" = --version ] && { printf 'v\\033[31m1\\n'; exit 0; }\n"
      "printf '\\033[31mred\\t\\377' >&2; head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1\n");
  Finished const finished =
      flashpad({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind", "--filter", "n64_"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("\\x1b[31mred\\x09"));
  EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("\x1b")));
  EXPECT_LT(json("results/small.json")["rows"][0]["reason"].get<std::string>().size(), 250u);
}

TEST_F(SimulatedTest, FailsTheRowOfAProfileThatIsCutShort) {
  std::string script = works;
  script.replace(script.find("totals: 1 1 1 1 1 1 0 $lines"), 28, "totals: 1 1 1");
  write_valgrind(script);
  Finished const finished = flashpad({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind",
                                      "--filter", "n64_", "--calls", "1"});
  EXPECT_EQ(finished.code, 1);
  nlohmann::json const row = json("results/small.json")["rows"][0];
  EXPECT_EQ(row["status"], "failed");
  EXPECT_TRUE(row["simulated_bytes"].is_null());
  EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("not whole"));
}

TEST_F(SimulatedTest, AChildThatEndsWithoutAWordSaysHow) {
  write_valgrind("[ \"$1\" = --version ] && exit 0; kill -9 $$\n");
  Finished const finished =
      flashpad({"profile", "small.yaml", "--simulate", "--profiler", "./valgrind", "--filter", "n64_"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("callgrind: ended by signal 9"));
}

TEST_F(SimulatedTest, RefusesAProfilerThatIsNotThere) {
  Finished const finished =
      flashpad({"profile", "small.yaml", "--simulate", "--profiler", "/no/such/valgrind"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("/no/such/valgrind"));
  EXPECT_THAT(left_behind(), ElementsAre("results")) << "but nothing in it";
  EXPECT_FALSE(exists("results/small.json"));
}

// Either there are counters, and every row has them, or one line says why not and what to do.
TEST_F(ProfileTest, CountsOrSaysWhyNot) {
  Finished const finished = flashpad({"profile", "small.yaml", "--filter", "n64_"});
  if (finished.code == 2) {
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("no hardware counters"));
    EXPECT_THAT(finished.err, HasSubstr("allowed: "));
    return;
  }
  ASSERT_EQ(finished.code, 0) << finished.err << finished.out;
  nlohmann::json const document = json("results/small.json");
  for (auto const& row : document["rows"]) {
    EXPECT_EQ(row["profiler"], "perf_event");
    EXPECT_GT(row["instructions"], 1000);
    EXPECT_GT(row["cycles"], 1000);
  }
}

TEST_F(ProfileTest, HelpSaysWhatEachBackendCounts) {
  Finished const finished = flashpad({"profile", "--help"});
  EXPECT_EQ(finished.code, 0);
  for (char const* words :
       {"cuda, with ncu: memory read", "hip, with rocprofv3", "perf_event: cycles", "--simulate: "})
    EXPECT_THAT(finished.out, HasSubstr(words));
}

TEST_F(ProfileTest, RefusesAnUnknownReplayMode) {
  Finished const finished = flashpad({"profile", "small.yaml", "--replay-mode", "sideways"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("app-range"));
}

}  // namespace
}  // namespace flashpad::cli
