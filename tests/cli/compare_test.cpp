// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>

namespace flashpad::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string run_json(double seconds) {
  nlohmann::json document;
  document["context"] = {{"git_revision", "r" + std::to_string(seconds)}, {"cpu", "one"}};
  for (char const* name : {"first", "second"}) {
    nlohmann::json row = {{"case", name}, {"status", "ok"}, {"median_s", seconds}};
    for (int i = 0; i < 10; ++i) row["samples_s"].push_back(seconds * (1 + 1e-4 * i));
    document["rows"].push_back(row);
  }
  return document.dump();
}

class Compare : public SmallCli {
 protected:
  Compare() {
    write("a.json", run_json(1));
    write("b.json", run_json(1.2));
  }
};

TEST_F(Compare, ShowsRatiosAndWhatDiffers) {
  Finished const finished = flashpad({"compare", "a.json", "b.json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, HasSubstr("git_revision"));
  EXPECT_THAT(finished.out, HasSubstr("1.200  <0.001   slower"));
  EXPECT_THAT(finished.out,
              HasSubstr("geometric mean of 2 cases: B/A 1.200, B takes 20.0 % more time than A"));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(Compare, HoldsALineByItsExitCode) {
  EXPECT_EQ(flashpad({"compare", "a.json", "b.json", "--fail-if-slower", "25%"}).code, 0);
  EXPECT_EQ(flashpad({"compare", "b.json", "a.json", "--fail-if-slower", "0"}).code, 0);
  Finished const slower = flashpad({"compare", "a.json", "b.json", "--fail-if-slower", "5"});
  EXPECT_EQ(slower.code, 1);
  EXPECT_THAT(slower.out, HasSubstr("2 of 2 cases break the line of 5 % slower:"));
  EXPECT_EQ(flashpad({"compare", "a.json", "b.json", "--fail-if-slower", "25%", "--filter", "first"}).code,
            0);
}

TEST_F(Compare, ComparesARunWithABenchmark) {
  ASSERT_EQ(flashpad({"run", "small.yaml"}).code, 0);
  ASSERT_EQ(flashpad({"bench", "small.yaml", "--benchmark_min_time=0.001", "--benchmark_out=g.json",
                      "--benchmark_repetitions=5"})
                .code,
            0);
  nlohmann::json const run = json("results/small.json");
  EXPECT_EQ(run["rows"][0]["samples_s"].size(), 3u);
  Finished const finished = flashpad({"compare", "results/small.json", "g.json", "--json", "c.json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  nlohmann::json const comparison = json("c.json");
  ASSERT_EQ(comparison["cases"].size(), 4u);
  for (auto const& one : comparison["cases"]) EXPECT_GT(one["columns"][1]["ratio"], 0) << one["name"];
  EXPECT_GT(comparison["geometric_means"][1], 0);
}

TEST_F(Compare, ReadsTheKeptResults) {
  std::string const results = FLASHPAD_SOURCE_DIR "/docs/results/";
  Finished const gpu = flashpad({"compare", results + "h200-peers-bf16.json", "--by", "kernel"});
  EXPECT_EQ(gpu.code, 0) << gpu.err;
  EXPECT_THAT(gpu.out, HasSubstr(": kernel fa3\n"));
  Finished const host = flashpad({"compare", results + "host-peers.json", "--by", "kernel"});
  EXPECT_EQ(host.code, 0) << host.err;
  EXPECT_THAT(host.out, HasSubstr(": kernel torch\n"));
}

TEST_F(Compare, MistakesAreOneLineAndExitTwo) {
  write("broken.json", "{\"rows\": [");
  write("empty.json", "");
  std::vector<std::vector<std::string>> const mistakes = {
      {},
      {"a.json"},
      {"a.json", "none.json"},
      {"a.json", "broken.json"},
      {"a.json", "empty.json"},
      {"a.json", "small.yaml"},
      {"a.json", "."},
      {"a.json", "/dev/zero"},
      {"a.json", "b.json", "--fail-if-slower", "fast"},
      {"a.json", "b.json", "--fail-if-slower", "-5"},
      {"a.json", "b.json", "--fail-if-slower", "5 apples"},
      {"a.json", "b.json", "--fail-if-slower", "nan"},
      {"a.json", "b.json", "--fail-if-slower", ""},
      {"a.json", "b.json", "--filter", "third"},
      {"a.json", "b.json", "--by", "colour"},
      {"a.json", "b.json", "--alpha", "2"},
      {"a.json", "b.json", "--alpha", "nan"},
      {"a.json", "b.json", "--json", "a.json"},
      {"a.json", "b.json", "--json", "/dev/null"}};
  for (std::vector<std::string> arguments : mistakes) {
    arguments.insert(arguments.begin(), "compare");
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2) << ::testing::PrintToString(arguments) << finished.out;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.out, IsEmpty());
  }
  EXPECT_THAT(left_behind(), IsEmpty());
}

}  // namespace
}  // namespace flashpad::cli
