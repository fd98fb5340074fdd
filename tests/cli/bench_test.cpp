// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

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
  EXPECT_THAT(finished.err, HasSubstr("flashpad: error: --benchmark_filter: matches none of the 2 cases"));
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
  for (int i = 0; i < 1000 && !exists("b.json"); ++i)
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
