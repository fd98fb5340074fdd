// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>
#include <utility>

namespace flashpad::cli {
namespace {

using ::testing::HasSubstr;

class BenchTest : public Cli {
 protected:
  BenchTest() {
    write("small.yaml", R"(name: small
problem: {batch: 1, heads: 2, seq: 64, head_dim: 32, mask: causal}
kernels: [naive, fused]
timing: {warmup: 1, repetitions: 3, cache: warm}
output: {json: results/small.json}
)");
  }

  Finished bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bench", "small.yaml", "--benchmark_min_time=0.01",
                                         "--benchmark_out=b.json", "--benchmark_out_format=json"});
    return flashpad(arguments);
  }
};

TEST_F(BenchTest, IsOneBenchmarkACase) {
  Finished const finished = bench({});
  ASSERT_EQ(finished.code, 0) << finished.err << finished.out;
  nlohmann::json const document = json("b.json");
  ASSERT_EQ(document["benchmarks"].size(), 2u);
  for (auto const& benchmark : document["benchmarks"]) {
    EXPECT_THAT(benchmark["name"].get<std::string>(), HasSubstr("/manual_time"));
    EXPECT_EQ(benchmark["time_unit"], "s");
    EXPECT_EQ(benchmark["N"], 64);
    double const pairs = 64 * 65 / 2.0;
    double const seconds = benchmark["real_time"];
    EXPECT_NEAR(benchmark["FLOP/s"].get<double>() * seconds / (4 * 32 * pairs * 2), 1, 1e-6);
    EXPECT_GT(benchmark["model_bytes/s"], 0);
  }
  EXPECT_FALSE(exists("results")) << "output.json is for `run`";
}

TEST_F(BenchTest, HasItsConfigurationInTheContext) {
  ASSERT_EQ(bench({"--benchmark_filter=fused"}).code, 0);
  nlohmann::json const document = json("b.json");
  EXPECT_EQ(document["benchmarks"].size(), 1u);
  EXPECT_THAT(document["context"]["executable"].get<std::string>(), ::testing::EndsWith("flashpad"));
  for (char const* name : {"git_revision", "kokkos_version", "kokkos_backends", "cpu", "compiler", "blas"}) {
    EXPECT_TRUE(document["context"].contains(name)) << name;
  }
}

TEST_F(BenchTest, AFilterThatMatchesNothingIsAnError) {
  Finished const finished = bench({"--benchmark_filter=nothing"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  EXPECT_THAT(finished.err,
              HasSubstr("flashpad: error: --benchmark_filter: `nothing` matches none of the 2 cases"));
}

TEST_F(BenchTest, TheReportDoesNotReplaceTheExperiment) {
  std::string const before = read("small.yaml");
  Finished const finished = flashpad({"bench", "small.yaml", "--benchmark_out=small.yaml"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_EQ(read("small.yaml"), before);
}

TEST_F(BenchTest, AMistypedFlagIsAnError) {
  Finished const finished = bench({"--benchmark_fliter=fused"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("--benchmark_fliter=fused"));
}

TEST_F(BenchTest, AFlagsValueIsCheckedBeforeAnythingRuns) {
  std::filesystem::create_directory(m_folder / "folder");
  std::vector<std::pair<std::string, std::string>> const mistakes = {
      {"--benchmark_out=/dev/full",
       "--benchmark_out: /dev/full: cannot be written: it is a device; allowed: "},
      {"--benchmark_out=folder", "--benchmark_out: folder: cannot be written: it is a folder; allowed: "},
      {"--benchmark_out", "--benchmark_out: has no value; allowed: the name of a file"},
      {"--benchmark_out_format=xx", "--benchmark_out_format: found 'xx'; allowed: json, console, csv"},
      {"--benchmark_format=xx", "--benchmark_format: found 'xx'; allowed: console, json, csv"},
      {"--benchmark_color=xx", "--benchmark_color: found 'xx'; allowed: auto, true"},
      {"--benchmark_time_unit=xx", "--benchmark_time_unit: found 'xx'; allowed: ns, us, ms, s"},
      {"--benchmark_min_time=-1", "--benchmark_min_time: found '-1'; allowed: a number of seconds above 0"},
      {"--benchmark_min_time=nan", "--benchmark_min_time: found 'nan'; allowed: a number"},
      {"--benchmark_min_warmup_time=x", "--benchmark_min_warmup_time: found 'x'; allowed: a number"},
      {"--benchmark_repetitions=abc", "--benchmark_repetitions: found 'abc'; allowed: a whole number from 1"},
      {"--benchmark_repetitions=0", "--benchmark_repetitions: found '0'; allowed: a whole number from 1"},
      {"--benchmark_list_tests=maybe", "--benchmark_list_tests: found 'maybe'; allowed: true, false"},
      {"--benchmark_filter=(", "--benchmark_filter: found '('; allowed: a POSIX extended regular expression"},
      {"--benchmark_context=x", "--benchmark_context=x: Google Benchmark has no such flag, or not with"}};
  for (auto const& [flag, message] : mistakes) {
    Finished const finished = flashpad({"bench", "small.yaml", flag});
    EXPECT_EQ(finished.code, 2) << flag;
    EXPECT_EQ(finished.err.rfind("flashpad: error: " + message, 0), 0u) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_EQ(finished.out, "") << flag;
  }
  Finished const finished = flashpad_with({{"BENCHMARK_OUT", "/dev/full"}}, {"bench", "small.yaml"});
  EXPECT_EQ(finished.code, 2) << "the library takes its flags from there as well";
  expect_one_error_line(finished);
}

TEST_F(BenchTest, WritesTheFormatThatIsAsked) {
  for (std::string const format : {"json", "csv", "console"}) {
    ASSERT_EQ(bench({"--benchmark_out_format=" + format}).code, 0);
    std::string const start = format == "json" ? "{\n" : format == "csv" ? "name,iterations," : "----";
    EXPECT_EQ(read("b.json").rfind(start, 0), 0u) << read("b.json").substr(0, 200);
    EXPECT_THAT(read("b.json"), HasSubstr("_fused/manual_time"));
  }
}

// A limit on the size of files stands for a disk that is full by then.
TEST_F(BenchTest, AFileThatIsLostAtTheEndIsNoSuccess) {
  write("b.json", "what was there before");
  Finished const finished = flashpad_after(
      [] {
        std::signal(SIGXFSZ, SIG_IGN);
        int const nowhere = open("/dev/null", O_WRONLY);
        rlimit const lower{64, 64};
        bool const ready = dup2(nowhere, 1) == 1 && dup2(nowhere, 2) == 2;  // they are files as well
        if (!ready || setrlimit(RLIMIT_FSIZE, &lower) != 0) _exit(126);
      },
      {"bench", "small.yaml", "--benchmark_min_time=0.001", "--benchmark_out=b.json"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(read("b.json"), "what was there before");
}

TEST_F(BenchTest, OutOfMemoryIsSkippedWithItsReason) {
  Finished const finished =
      bench({"--set", "memory_limit=48MiB", "--set", "problem.seq=4096", "--set", "problem.head_dim=16"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  nlohmann::json const document = json("b.json");
  ASSERT_EQ(document["benchmarks"].size(), 2u);
  EXPECT_EQ(document["benchmarks"][0]["error_occurred"], true);
  EXPECT_THAT(document["benchmarks"][0]["error_message"].get<std::string>(), HasSubstr("oom: needs"));
  EXPECT_FALSE(document["benchmarks"][1].contains("error_occurred"));
}

TEST_F(BenchTest, InterruptEndsItSoonAndKeepsTheReportWhole) {
  pid_t const process = start({"bench", "small.yaml", "--benchmark_min_time=20", "--benchmark_out=b.json",
                               "--benchmark_out_format=json"});
  for (int i = 0; i < 1000 && read(".err").find("Run on") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(process, SIGINT);
  Finished const finished = wait_for(process);
  EXPECT_EQ(finished.code, 130) << finished.err;
  EXPECT_TRUE(json("b.json").contains("benchmarks"));
}

TEST_F(BenchTest, ARowThatCannotRunIsAnError) {
  Finished const finished = bench({"--set", "problem.head_dim=256", "--set", "tile={q: 65536, k: 65536}"});
  EXPECT_NE(finished.code, 0);
}

}  // namespace
}  // namespace flashpad::cli
