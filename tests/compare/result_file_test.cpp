// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/result_file.hpp"

#include <flashpad/error.hpp>

#include "test_paths.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace flashpad::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(std::string const& text) {
  try {
    parse_results(text, "bad.json");
  } catch (Error const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ResultFile, ReadsRowsOfARun) {
  ResultFile const file = parse_results(
      R"({"context": {"cpu": "x"}, "rows": [
        {"case": "a", "status": "ok", "kernel": "fused", "tile": "64x64", "seq_q": 512, "median_s": 0.25,
         "spread": 0.1, "repetitions": 3, "samples_s": [0.2, 0.25, 0.3]},
        {"case": "b", "status": "oom", "median_s": null, "samples_s": null},
        {"case": "c", "status": "failed", "median_s": 0.1}]})",
      "r.json");
  EXPECT_EQ(file.writer, "flashpad run");
  EXPECT_EQ(file.context["cpu"], "x");
  ASSERT_EQ(file.rows.size(), 3u);
  EXPECT_EQ(file.rows[0].seconds, 0.25);
  EXPECT_THAT(file.rows[0].samples, ElementsAre(0.2, 0.25, 0.3));
  EXPECT_EQ(file.rows[0].facts.at("seq_q"), "512");
  EXPECT_EQ(file.rows[1].status, "oom");
  EXPECT_FALSE(file.rows[1].seconds);
  EXPECT_FALSE(file.rows[2].seconds) << "a wrong result's time counts";
}

TEST(ResultFile, ReadsGoogleBenchmark) {
  ResultFile const file = parse_results(
      R"({"context": {}, "benchmarks": [
        {"name": "a/manual_time", "run_name": "a/manual_time", "run_type": "iteration", "real_time": 2,
         "time_unit": "ms"},
        {"name": "b/repeats:3/manual_time", "run_name": "b/repeats:3/manual_time", "real_time": 1, "time_unit": "s"},
        {"name": "b/repeats:3/manual_time", "run_name": "b/repeats:3/manual_time", "real_time": 5, "time_unit": "s"},
        {"name": "b/repeats:3/manual_time", "run_name": "b/repeats:3/manual_time", "real_time": 3, "time_unit": "s"},
        {"name": "b/repeats:3/manual_time_mean", "run_name": "b/repeats:3/manual_time", "run_type": "aggregate",
         "aggregate_name": "mean", "real_time": 9, "time_unit": "s"},
        {"name": "c_median", "run_name": "c", "run_type": "aggregate", "aggregate_name": "median", "real_time": 7,
         "time_unit": "us"},
        {"name": "d", "run_name": "d", "error_occurred": true, "error_message": "oom: needs 3 GiB"}]})",
      "g.json");
  ASSERT_EQ(file.rows.size(), 4u);
  EXPECT_EQ(file.rows[0].name, "a");
  EXPECT_DOUBLE_EQ(*file.rows[0].seconds, 0.002);
  EXPECT_EQ(file.rows[1].name, "b");
  EXPECT_THAT(file.rows[1].samples, ElementsAre(1, 5, 3));
  EXPECT_EQ(file.rows[1].seconds, 3);
  EXPECT_DOUBLE_EQ(*file.rows[2].seconds, 7e-6);
  EXPECT_EQ(file.rows[3].status, "oom");
  EXPECT_FALSE(file.rows[3].seconds);
}

TEST(ResultFile, ReadsTheWinnersOfASearch) {
  ResultFile const file = parse_results(
      R"({"kind": "tune", "context": {}, "rows": [{"case": "x"}, {"case": "x"}], "searches": [
        {"case": "x", "kernel": "fused", "backend": "cuda", "engine": "mma", "dtype": "bf16", "batch": 1, "heads": 8,
         "kv_heads": 8, "seq_q": 512, "seq_k": 512, "head_dim": 64, "value_dim": 64, "mask": "none",
         "status": "tuned", "winner": {"q": 128, "k": 64, "team": 4, "stages": 2}, "winner_median_s": 0.5},
        {"case": "y", "kernel": "stats", "dtype": "fp32", "status": "failed", "winner": null}]})",
      "t.json");
  EXPECT_EQ(file.writer, "flashpad tune");
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows[0].name, "b1_h8_n512_d64_bf16_none_fused") << "the same on every backend";
  EXPECT_EQ(file.rows[0].seconds, 0.5);
  EXPECT_EQ(file.rows[0].facts.at("tile"), "128x64");
  EXPECT_EQ(file.rows[0].facts.at("team"), "4");
  EXPECT_EQ(file.rows[1].status, "failed");
  EXPECT_THAT(refusal("{\"searches\": [{\"status\": \"tuned\", \"winner\": 3}]}"),
              HasSubstr("searches[0].winner: is 3; allowed: an object"));
}

// Kept results change with every measurement: the file itself says what has to come out.
nlohmann::json kept(std::string const& file) { return nlohmann::json::parse(std::ifstream(file)); }

TEST(ResultFile, ReadsWhatTheScriptsWroteOfThePeers) {
  std::string const results = FLASHPAD_SOURCE_DIR "/docs/results/";
  nlohmann::json const of_gpu = kept(results + "h200-peers-bf16.json");
  ResultFile const gpu = read_results(results + "h200-peers-bf16.json");
  EXPECT_EQ(gpu.writer, "gpu_peers.py");
  ASSERT_EQ(gpu.rows.size(), of_gpu["rows"].size());
  EXPECT_EQ(gpu.rows[0].facts.at("kernel"), of_gpu["rows"][0]["name"].get<std::string>());
  EXPECT_DOUBLE_EQ(*gpu.rows[0].seconds, of_gpu["rows"][0]["ms"].get<double>() * 1e-3);
  nlohmann::json const of_host = kept(results + "host-peers.json");
  ResultFile const host = read_results(results + "host-peers.json");
  EXPECT_EQ(host.writer, "bench_host.py");
  ASSERT_EQ(host.rows.size(), of_host["rows"].size());
  EXPECT_EQ(host.rows[0].facts.at("kernel"), of_host["rows"][0]["peer"].get<std::string>());
  EXPECT_EQ(host.rows[0].seconds, of_host["rows"][0]["median_s"].get<double>());
  EXPECT_EQ(read_results(results + "h200-kernels.json").writer, "flashpad run");
}

TEST(ResultFile, KnowsTheRoundsOfThePeers) {
  ResultFile const gpu = parse_results(
      R"({"rows": [{"name": "fa3", "d": 64, "causal": false, "nq": 512, "nk": 512, "b": 2, "h": 4, "dtype": "bf16",
          "round_ms": [1, 3], "ms": 2}]})",
      "g.json");
  EXPECT_EQ(gpu.rows[0].name, "b2_h4_n512_d64_bf16_none_fa3");
  EXPECT_THAT(gpu.rows[0].samples, ElementsAre(0.001, 0.003));
  EXPECT_EQ(gpu.rows[0].seconds, 0.002);
  // Two rounds are known from their middle and their distance.
  ResultFile const host = parse_results(
      R"({"rows": [{"case": "c", "peer": "torch", "status": "ok", "median_s": 2, "spread": 0.5, "rounds": 2}]})",
      "h.json");
  EXPECT_EQ(host.rows[0].name, "c_torch");
  EXPECT_THAT(host.rows[0].samples, ElementsAre(1.5, 2.5));
}

TEST(ResultFile, RefusesBrokenJsonInOneLine) {
  EXPECT_THAT(refusal(""), HasSubstr("bad.json:1:1: is empty"));
  EXPECT_THAT(refusal("{\n \"rows\": [\n  nonsense"), HasSubstr("bad.json:3:"));
  EXPECT_THAT(refusal("{\"rows\": [{\"case\": \"a\""), HasSubstr("ends before its JSON does"));
  EXPECT_THAT(refusal("[1, 2]"), HasSubstr("bad.json: the document: is an array of 2; allowed: an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("allowed: an object with rows"));
  EXPECT_THAT(refusal("{\"rows\": []}"), HasSubstr("has no rows"));
  EXPECT_THAT(refusal("{\"rows\": 3}"), HasSubstr("rows: is 3; allowed: an array"));
  EXPECT_THAT(refusal("{\"rows\": [7]}"), HasSubstr("rows[0]: is 7; allowed: an object"));
  EXPECT_THAT(refusal("{\"rows\": [{}]}"), HasSubstr("rows[0].case: missing; allowed: some text"));
  EXPECT_THAT(refusal("{\"context\": 1, \"rows\": [{}]}"), HasSubstr("context: is 1; allowed: an object"));
  EXPECT_THAT(refusal("{\"rows\": [{\"median_s\": 1e999}]}"), HasSubstr("no double can hold"));
  for (char const* text :
       {"{\"rows\"", "{\"rows\": [{\"case\": \"a\\u0000\\n\", \"status\": \"ok\", \"median_s\": -1}]}",
        "\xff\xfe{", "null", "{\"benchmarks\": [{\"name\": []}]}"}) {
    std::string const message = refusal(text);
    EXPECT_NE(message, "accepted") << text;
    EXPECT_THAT(message, HasSubstr("bad.json:"));
    EXPECT_THAT(message, HasSubstr("allowed: "));
    EXPECT_THAT(message, Not(HasSubstr("\n")));
  }
}

TEST(ResultFile, RefusesTimesThatAreNone) {
  auto const row = [](std::string const& values) {
    return refusal("{\"rows\": [{\"case\": \"a\", \"status\": \"ok\", " + values + "}]}");
  };
  EXPECT_THAT(row("\"median_s\": -1"), HasSubstr("rows[0].median_s: is -1; allowed: a time above 0"));
  EXPECT_THAT(row("\"median_s\": 0"), HasSubstr("allowed: a time above 0"));
  EXPECT_THAT(row("\"median_s\": \"fast\""), HasSubstr("is \"fast\"; allowed: a time above 0"));
  EXPECT_THAT(row("\"samples_s\": [1, null]"), HasSubstr("rows[0].samples_s[1]: missing"));
  EXPECT_THAT(row("\"spread\": -0.5, \"median_s\": 1"), HasSubstr("rows[0].spread"));
  EXPECT_THAT(row("\"repetitions\": 1.5, \"median_s\": 1"), HasSubstr("allowed: a whole number"));
  EXPECT_THAT(row("\"repetitions\": -1, \"median_s\": 1"), HasSubstr("allowed: a whole number"));
  EXPECT_THAT(row("\"tile\": [64, 64]"), HasSubstr("rows[0].tile: is an array of 2"));
}

TEST(ResultFile, RefusesTheSameCaseTwice) {
  EXPECT_THAT(
      refusal("{\"rows\": [{\"case\": \"a\", \"status\": \"ok\"}, {\"case\": \"a\", \"status\": \"ok\"}]}"),
      HasSubstr("has the case a twice"));
}

TEST(ResultFile, RefusesWhatIsNestedWithoutEnd) {
  std::string const deep(1000000, '[');
  EXPECT_THAT(refusal(deep), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal("{\"context\": " + std::string(3000, '[') + std::string(3000, ']') + ", \"rows\": []}"),
              HasSubstr("nested too deeply"));
}

TEST(ResultFile, RefusesWhatIsNoFile) {
  EXPECT_THROW(read_results("/no/such/file.json"), Error);
  EXPECT_THROW(read_results("/dev/zero"), Error);
  EXPECT_THROW(read_results("/tmp"), Error);
}

}  // namespace
}  // namespace flashpad::compare
