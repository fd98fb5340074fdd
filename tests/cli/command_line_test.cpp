// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>

namespace flashpad::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CommandLine : public Cli {
 protected:
  CommandLine() {
    write("small.yaml",
          "name: small\nproblem: {batch: 1, heads: 1, seq: 32, head_dim: 16}\nkernels: fused\n"
          "backend: auto\ntiming: {warmup: 0, repetitions: 1, cache: warm}\n");
  }
};

TEST_F(CommandLine, HelpAndVersionSucceed) {
  EXPECT_EQ(flashpad({"--help"}).code, 0);
  Finished const version = flashpad({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, HasSubstr("Flashpad "));
  EXPECT_THAT(version.out, HasSubstr("Kokkos "));
  for (char const* command : {"run", "bench", "info", "check", "compare", "explain", "tune"}) {
    Finished const help = flashpad({command, "--help"});
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("--help")) << command;
  }
}

TEST_F(CommandLine, MistakesAreOneLineAndExitTwo) {
  std::vector<std::vector<std::string>> const mistakes = {
      {},
      {"walk"},
      {"run"},
      {"run", "small.yaml", "--jason", "x"},
      {"run", "small.yaml", "extra"},
      {"run", "small.yaml", "--benchmark_filter=x"},
      {"run", "small.yaml", "--set", "nonsense"},
      {"run", "small.yaml", "--json", ""},
      {"run", "small.yaml", "--csv="},
      {"run", "small.yaml", "--filter", ""},
      {"run", "small.yaml", "--set", "problem.sequence=3"},
      {"tune", "small.yaml", "--set", "kernels=naive"},
      {"tune", "small.yaml", "--jobs", "0"}};
  for (auto const& arguments : mistakes) {
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2) << ::testing::PrintToString(arguments);
    expect_one_error_line(finished);
    EXPECT_THAT(finished.out, IsEmpty());
  }
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(CommandLine, ALineBreakInANameHidesNoCause) {
  std::string const name = "no\n\x1b[2Jfile";
  for (std::vector<std::string> const& arguments : {std::vector<std::string>{"check", name},
                                                    {"report", name},
                                                    {"compare", name, "other"},
                                                    {"tune", name}}) {
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2);
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, ContainsRegex("no\\\\x0a\\\\x1b\\[2Jfile: .*[Nn]o such file"));
  }
}

TEST_F(CommandLine, AnUnknownCommandIsNamed) {
  EXPECT_THAT(flashpad({"walk"}).err, HasSubstr("`walk` is no command; allowed: run, bench, info"));
}

TEST_F(CommandLine, CheckListsCases) {
  Finished const finished = flashpad({"check", "small.yaml", "--set", "problem.dtype=[fp32, bf16]"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("valid, 2 cases"));
  EXPECT_THAT(finished.out, HasSubstr("bf16"));
  write("bad.yaml", "name: x\nproblem: {batch: -1}\n");
  Finished const bad = flashpad({"check", "bad.yaml"});
  EXPECT_EQ(bad.code, 2);
  expect_one_error_line(bad);
}

TEST_F(CommandLine, InfoTellsOfEveryBackend) {
  Finished const text = flashpad({"info"});
  EXPECT_EQ(text.code, 0) << text.err;
  Finished const finished = flashpad({"info", "--json"});
  ASSERT_EQ(finished.code, 0);
  nlohmann::json const info = nlohmann::json::parse(finished.out);
  ASSERT_FALSE(info["backends"].empty());
  for (auto const& backend : info["backends"]) {
    EXPECT_THAT(text.out, HasSubstr("\n" + backend["name"].get<std::string>()));
    EXPECT_GE(backend["concurrency"], 1);
    // Four times the last-level cache may be more than what is free.
    if (backend["peak_bytes_per_s"].is_null()) {
      EXPECT_THAT(text.out + finished.err, HasSubstr("not measured: memory_limit"));
    } else {
      EXPECT_GT(backend["peak_flops_fp32"], 1e8);
      EXPECT_GT(backend["peak_flops_fp64"], 1e8);
      EXPECT_GT(backend["peak_bytes_per_s"], 1e8);
    }
    EXPECT_GT(backend["scratch_bytes"][0], 1000);
    EXPECT_FALSE(backend["engines"].empty());
  }
}

// Kokkos warns of it, and Kokkos 3 on standard output.
TEST_F(CommandLine, JsonIsJsonWhereThreadsAreNotBound) {
  char const* const bound = std::getenv("OMP_PROC_BIND");
  std::string const before = bound == nullptr ? "" : bound;
  unsetenv("OMP_PROC_BIND");
  Finished const finished = flashpad({"info", "--json"});
  if (bound != nullptr) setenv("OMP_PROC_BIND", before.c_str(), 1);
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(nlohmann::json::accept(finished.out)) << finished.out.substr(0, 200);
}

TEST_F(CommandLine, AMistypedKokkosFlagIsRefusedWithTheKnownOnes) {
  for (std::string const flag : {"--kokkos-treads=2", "--kokkos-", "--kokkos"}) {
    for (std::string const command : {"run", "check", "bench"}) {
      Finished const finished = flashpad({command, "small.yaml", flag});
      EXPECT_EQ(finished.code, 2) << flag;
      expect_one_error_line(finished);
      EXPECT_THAT(finished.err, HasSubstr("--kokkos-disable-warnings"));
    }
  }
}

TEST_F(CommandLine, KokkosFlagsArePassedOn) {
  // Kokkos 4 renamed the flag; the message about a mistyped one names the flag of this Kokkos.
  std::string const known = flashpad({"info", "--kokkos-x"}).err;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(known, match, std::regex("--kokkos-(num-)?threads"))) << known;
  std::string const flag = match.str();
  for (std::string const value : {"=abc", "=", "=-1", "=1.5"}) {
    Finished const finished = flashpad({"info", flag + value});
    EXPECT_EQ(finished.code, 2) << value;
    expect_one_error_line(finished);
  }
  Finished const finished =
      flashpad({"run", "small.yaml", "--json", "r.json", "--kokkos-disable-warnings", flag + "=1"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(json("r.json")["context"]["backends"][0]["concurrency"], 1);
}

TEST_F(CommandLine, ThreadsOutOfRangeAreRefusedBeforeKokkosStarts) {
  std::string const known = flashpad({"info", "--kokkos-x"}).err;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(known, match, std::regex("--kokkos-(num-)?threads"))) << known;
  for (std::string const value : {"=0", "=513", "=100000", "=99999999999"}) {
    Finished const finished = flashpad({"run", "small.yaml", match.str() + value});
    EXPECT_EQ(finished.code, 2) << value;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("from 1 to 512"));
  }
  EXPECT_EQ(flashpad({"check", "small.yaml", match.str() + "=512"}).code, 0);
  for (char const* value : {"513", "100000,2"}) {
    setenv("OMP_NUM_THREADS", value, 1);
    Finished const finished = flashpad({"run", "small.yaml"});
    unsetenv("OMP_NUM_THREADS");
    EXPECT_EQ(finished.code, 2);
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("OMP_NUM_THREADS"));
  }
}

TEST_F(CommandLine, KokkosHelpIsPrintedAndNothingRuns) {
  for (std::vector<std::string> const& arguments :
       {std::vector<std::string>{"--kokkos-help"},
        {"run", "small.yaml", "--json", "r.json", "--kokkos-help"}}) {
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out + finished.err, HasSubstr("--kokkos-disable-warnings"));
    EXPECT_THAT(left_behind(), IsEmpty());
  }
}

TEST_F(CommandLine, LostOutputIsNoSuccess) {
  for (std::vector<std::string> const& arguments : {std::vector<std::string>{"run", "small.yaml"},
                                                    {"run", "small.yaml", "--dry-run"},
                                                    {"info"},
                                                    {"info", "--json"},
                                                    {"check", "small.yaml"},
                                                    {"bench", "small.yaml", "--benchmark_min_time=0.001"},
                                                    {"--help"},
                                                    {"--version"}}) {
    Finished const finished = flashpad_into("/dev/full", arguments);
    EXPECT_EQ(finished.code, 1) << arguments[0];
    EXPECT_THAT(finished.err, HasSubstr("flashpad: error: standard output: cannot be written"))
        << arguments[0];
  }
}

// The names that an experiment may give are a list of their own.
TEST_F(CommandLine, EveryEngineOfThisBuildMayBeNamed) {
  nlohmann::json const info = nlohmann::json::parse(flashpad({"info", "--json"}).out);
  for (auto const& backend : info["backends"]) {
    for (std::string const engine : backend["engines"]) {
      EXPECT_EQ(flashpad({"check", "small.yaml", "--set", "engine=" + engine}).code, 0) << engine;
    }
  }
  Finished const refused = flashpad({"check", "small.yaml", "--set", "engine=avx512"});
  EXPECT_EQ(refused.code, 2);
  expect_one_error_line(refused);
  EXPECT_THAT(refused.err, HasSubstr("found 'avx512'; allowed: auto, amx-bf16, "));
}

TEST_F(CommandLine, ABackendNamedTwiceIsRefused) {
  nlohmann::json const info = nlohmann::json::parse(flashpad({"info", "--json"}).out);
  std::string const best = info["kokkos_backends"][0];
  for (std::string const& list : {"[auto, " + best + "]", "[" + best + ", auto]"}) {
    Finished const finished = flashpad({"run", "small.yaml", "--set", "backend=" + list});
    EXPECT_EQ(finished.code, 2) << list;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("auto is " + best + " here"));
  }
}

TEST_F(CommandLine, AForcedBlasIsSaid) {
  setenv("MKL_ENABLE_INSTRUCTIONS", "AVX2", 1);
  Finished const forced = flashpad({"info"});
  nlohmann::json const forced_json = nlohmann::json::parse(flashpad({"info", "--json"}).out);
  unsetenv("MKL_ENABLE_INSTRUCTIONS");
  EXPECT_THAT(forced.out, HasSubstr("MKL_ENABLE_INSTRUCTIONS=AVX2"));
  EXPECT_THAT(forced_json["blas_forced"].get<std::string>(), HasSubstr("MKL_ENABLE_INSTRUCTIONS=AVX2"));
  EXPECT_THAT(flashpad({"info"}).out, ::testing::Not(HasSubstr("MKL_ENABLE_INSTRUCTIONS")));
}

TEST_F(CommandLine, EachBackendRuns) {
  nlohmann::json const info = nlohmann::json::parse(flashpad({"info", "--json"}).out);
  for (std::string const name : info["kokkos_backends"]) {
    Finished const finished = flashpad({"run", "small.yaml", "--json", "r.json", "--set", "backend=" + name});
    EXPECT_EQ(finished.code, 0) << name << finished.err << finished.out;
    EXPECT_EQ(json("r.json")["rows"][0]["backend"], name);
  }
  ASSERT_EQ(flashpad({"run", "small.yaml", "--json", "r.json"}).code, 0);
  EXPECT_EQ(json("r.json")["rows"][0]["backend"], info["kokkos_backends"][0]) << "auto takes the best";
}

}  // namespace
}  // namespace flashpad::cli
