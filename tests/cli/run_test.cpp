// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

namespace flashpad::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RunTest : public SmallCli {};

TEST_F(RunTest, MeasuresEveryCase) {
  Finished const finished = flashpad({"run", "small.yaml"});
  ASSERT_EQ(finished.code, 0) << finished.err << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("4 of 4 cases: 4 ok"));
  EXPECT_THAT(finished.err, Not(HasSubstr("\r"))) << "progress in a pipe";
  EXPECT_THAT(finished.err, Not(HasSubstr("[1/4]"))) << "progress in a pipe";

  nlohmann::json const document = json("results/small.json");
  ASSERT_EQ(document["rows"].size(), 4u);
  for (auto const& row : document["rows"]) {
    EXPECT_EQ(row["status"], "ok");
    EXPECT_EQ(row["verified"], true);
    EXPECT_EQ(row["repetitions"], 3);
    EXPECT_GT(row["median_s"], 0);
    EXPECT_LE(row["min_s"], row["median_s"]);
    EXPECT_GT(row["first_call_s"], 0);
    EXPECT_LE(row["max_abs_err"], row["tolerance"]);
    EXPECT_TRUE(row["bytes_measured"].is_null());
    double const n = row["seq_q"];
    EXPECT_EQ(row["flops"], 4 * 32 * n * n);
    EXPECT_DOUBLE_EQ(row["tflops"], row["flops"].get<double>() / row["median_s"].get<double>() / 1e12);
    EXPECT_GT(row["roof_fraction"], 0);
  }
  EXPECT_THAT(left_behind(), ElementsAre("results"));
}

TEST_F(RunTest, ShowsProgressOnATerminal) {
  Finished const finished = flashpad_on_terminal({"run", "small.yaml"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("[1/4] "));
  EXPECT_THAT(finished.out, HasSubstr("[4/4] "));
  EXPECT_THAT(finished.out, HasSubstr("4 of 4 cases: 4 ok"));
}

TEST_F(RunTest, CountsBytesAndLaunches) {
  ASSERT_EQ(flashpad({"run", "small.yaml", "--filter", "n64"}).code, 0);
  nlohmann::json const rows = json("results/small.json")["rows"];
  ASSERT_EQ(rows.size(), 2u);
  double const io = 4.0 * 64 * 32 * 4;
  EXPECT_EQ(rows[0]["kernel"], "naive");
  EXPECT_EQ(rows[0]["bytes_model"], io + 64 * 64 * 16);
  EXPECT_EQ(rows[0]["launches"], 3);
  EXPECT_TRUE(rows[0]["tile"].is_null());
  EXPECT_TRUE(rows[0]["bytes_tiles"].is_null());
  EXPECT_EQ(rows[0]["byte_ratio"], 1);
  EXPECT_EQ(rows[1]["kernel"], "fused");
  EXPECT_EQ(rows[1]["bytes_model"], io);
  EXPECT_EQ(rows[1]["launches"], 1);
  EXPECT_GE(rows[1]["bytes_tiles"], io);
  EXPECT_EQ(rows[1]["byte_ratio"], 3) << "1 + N/d";
  EXPECT_DOUBLE_EQ(rows[1]["speedup_vs_naive"],
                   rows[0]["median_s"].get<double>() / rows[1]["median_s"].get<double>());
}

TEST_F(RunTest, RecordsItsContext) {
  ASSERT_EQ(flashpad({"run", "small.yaml", "--filter", "n64"}).code, 0);
  nlohmann::json const document = json("results/small.json");
  nlohmann::json const& context = document["context"];
  for (char const* name :
       {"date", "command", "flashpad_version", "git_revision", "compiler", "kokkos_version", "cpu", "cores",
        "last_level_cache_bytes", "blas", "flops_rule", "bytes_rule"}) {
    EXPECT_TRUE(context.contains(name) && !context[name].is_null()) << name;
  }
  EXPECT_THAT(context["command"].get<std::string>(), HasSubstr("run small.yaml --filter n64"));
  EXPECT_EQ(context["experiment"], "small");
  EXPECT_EQ(context["interrupted"], false);
  ASSERT_EQ(context["backends"].size(), 1u);
  nlohmann::json const backend = context["backends"][0];
  if (backend["peak_bytes_per_s"].is_null()) {  // four times the last-level cache is more than what is free
    EXPECT_THAT(document["rows"][0]["reason"].get<std::string>(), HasSubstr("no roof"));
  } else {
    EXPECT_GT(backend["peak_flops_fp32"], 1e8);
    EXPECT_GT(backend["peak_bytes_per_s"], 1e8);
  }
}

TEST_F(RunTest, DryRunListsAndRunsNothing) {
  Finished const finished = flashpad({"run", "small.yaml", "--dry-run"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("4 cases; nothing was run"));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(RunTest, SetChangesTheExperiment) {
  Finished const finished =
      flashpad({"run", "--set", "problem.seq=48", "small.yaml", "--set", "kernels=fused"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  nlohmann::json const rows = json("results/small.json")["rows"];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["seq_q"], 48);
}

TEST_F(RunTest, VerifiesEveryTypeAndMask) {
  Finished const finished =
      flashpad({"run", "small.yaml", "--set", "problem.dtype=[fp64, fp32, fp16, bf16]", "--set",
                "problem.mask=[none, causal, {window: [5, 0]}]", "--set", "problem.layout=bnhd", "--set",
                "problem.distribution=unbalanced", "--set", "kernels=[naive, fused, stats]"});
  ASSERT_EQ(finished.code, 0) << finished.err << finished.out;
  nlohmann::json const rows = json("results/small.json")["rows"];
  EXPECT_EQ(rows.size(), 2u * 4 * 3 * 3);
  for (auto const& row : rows) {
    EXPECT_EQ(row["verified"], true) << row;
    EXPECT_EQ(row["max_abs_err"].is_null(), row["kernel"] == "stats");
    EXPECT_FALSE(row["lse_max_err"].is_null());
  }
}

TEST_F(RunTest, NoRowsNeedNoMemory) {
  Finished const finished = flashpad({"run", "small.yaml", "--set", "problem.seq=2000000000", "--set",
                                      "problem.heads=0", "--set", "memory_limit=1MiB"});
  EXPECT_EQ(finished.code, 0) << finished.err << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("2 of 2 cases: 2 ok"));
}

TEST_F(RunTest, AWindowOverALongSequenceFitsNaive) {
  write("window.yaml",
        "problem: {seq_q: 1, seq_k: 100000, head_dim: 16, mask: {window: [9, 0]}}\nkernels: naive\n"
        "timing: {warmup: 0, repetitions: 1, cache: warm}\noutput: {json: w.json}\n");
  double needed = 0;
  for (std::string const limit : {"1", ""}) {
    std::string const bytes = limit.empty() ? std::to_string(static_cast<long long>(needed)) : limit;
    ASSERT_EQ(flashpad({"run", "window.yaml", "--set", "memory_limit=" + bytes}).code, 0);
    nlohmann::json const row = json("w.json")["rows"][0];
    if (limit.empty()) {
      EXPECT_EQ(row["status"], "ok") << row;
      EXPECT_EQ(row["workspace_bytes"], 40) << "one row, ten keys";
    } else {
      EXPECT_EQ(row["status"], "oom");
      needed = row["bytes_needed"];
    }
  }
}

TEST_F(RunTest, OutOfMemoryIsAResult) {
  Finished const finished = flashpad({"run", "small.yaml", "--set", "problem.seq=[64, 4096]", "--set",
                                      "problem.head_dim=16", "--set", "memory_limit=48MiB"});
  EXPECT_EQ(finished.code, 0) << finished.err << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("4 of 4 cases: 3 ok, 1 oom"));
  nlohmann::json const rows = json("results/small.json")["rows"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2]["kernel"], "naive");
  EXPECT_EQ(rows[2]["status"], "oom");
  EXPECT_GT(rows[2]["bytes_needed"], 4.0 * 4096 * 4096);
  EXPECT_TRUE(rows[2]["median_s"].is_null());
  EXPECT_EQ(rows[3]["status"], "ok");
  EXPECT_THAT(finished.out, HasSubstr("allowed by memory_limit"));
}

TEST_F(RunTest, MissedSpeedupFailsAndSaysWhy) {
  Finished const finished = flashpad({"run", "small.yaml", "--set", "expected_speedup=100000"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("likely cause"));
  EXPECT_EQ(json("results/small.json")["rows"].size(), 4u) << "measured rows are kept";
}

TEST_F(RunTest, ExpectedSpeedupWithoutAPairIsRefused) {
  Finished const finished =
      flashpad({"run", "small.yaml", "--set", "expected_speedup=1", "--filter", "fused"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(RunTest, AFilterThatMatchesNothingIsRefused) {
  Finished const finished = flashpad({"run", "small.yaml", "--filter", "n65"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("--filter: `n65` matches none of the 4 cases"));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(RunTest, ARefusedTileFailsItsRow) {
  Finished const finished = flashpad({"run", "small.yaml", "--filter", "n64", "--set", "problem.head_dim=256",
                                      "--set", "tile={q: 65536, k: 65536}"});
  EXPECT_NE(finished.code, 0);
  EXPECT_THAT(finished.out + finished.err, HasSubstr("tile"));
}

TEST_F(RunTest, ABadFileLeavesNothingBehind) {
  write("bad.yaml", std::string(small) + "kernel: fused\n");
  Finished const finished = flashpad({"run", "bad.yaml"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("bad.yaml:11:1"));
  EXPECT_THAT(left_behind(), IsEmpty());
  EXPECT_THAT(finished.out, IsEmpty());
}

TEST_F(RunTest, AMissingFileIsRefused) {
  Finished const finished = flashpad({"run", "absent.yaml"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("absent.yaml"));
}

TEST_F(RunTest, AnUnavailableBackendIsRefusedBeforeAnythingRuns) {
  nlohmann::json const info = nlohmann::json::parse(flashpad({"info", "--json"}).out);
  std::vector<std::string> const available = info["kokkos_backends"];
  std::string absent;
  for (std::string const candidate : {"hip", "cuda", "threads"}) {
    if (std::find(available.begin(), available.end(), candidate) == available.end()) absent = candidate;
  }
  ASSERT_FALSE(absent.empty());
  Finished const finished =
      flashpad({"run", "small.yaml", "--set", std::string("backend=[auto, ").append(absent).append("]")});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr(absent + "` is not available"));
  for (std::string const& name : available) EXPECT_THAT(finished.err, HasSubstr(name));
  EXPECT_THAT(left_behind(), IsEmpty());
}

class InterruptedRun : public RunTest, public ::testing::WithParamInterface<int> {
 protected:
  // Who runs the tests under nohup has it ignored, and so would the driver.
  InterruptedRun() { std::signal(GetParam(), SIG_DFL); }
};

INSTANTIATE_TEST_SUITE_P(Signals, InterruptedRun, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(InterruptedRun, KeepsTheRowsMeasured) {
  // Some 20 s of cases; the tensor that the first one writes tells when it is done.
  pid_t const process =
      start({"run", "small.yaml", "--set", "problem.seq=[64, 1024, 1032, 1040, 1048]", "--set",
             "problem.heads=16", "--set", "timing.repetitions=1000", "--set", "output.lse='lse_{case}.npy'"});
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  auto const first_is_done = [&] {
    for (std::string const& name : left_behind()) {
      if (name.rfind("lse_", 0) == 0 && name.find(".tmp") == std::string::npos) return true;
    }
    return false;
  };
  while (!first_is_done() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(process, GetParam());
  Finished const finished = wait_for(process);
  EXPECT_EQ(finished.code, 128 + GetParam()) << finished.err;
  expect_one_error_line(finished);
  nlohmann::json const document = json("results/small.json");
  EXPECT_EQ(document["context"]["interrupted"], true);
  EXPECT_GE(document["rows"].size(), 1u);
  EXPECT_LT(document["rows"].size(), 10u);
  for (auto const& row : document["rows"]) EXPECT_EQ(row["status"], "ok");
  EXPECT_TRUE(exists("results/small.csv"));
}

TEST_P(InterruptedRun, LeavesAnEarlierResultWhereNoRowIsDone) {
  write("kept.json", "an earlier result");
  // A first case of minutes: the signal comes while it is timed.
  pid_t const process = start({"run", "small.yaml", "--set", "problem.seq=1024", "--set", "problem.heads=16",
                               "--set", "timing.repetitions=100000", "--json", "kept.json"});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  kill(process, GetParam());
  Finished const finished = wait_for(process);
  EXPECT_EQ(finished.code, 128 + GetParam()) << finished.err;
  EXPECT_EQ(read("kept.json"), "an earlier result");
}

}  // namespace
}  // namespace flashpad::cli
