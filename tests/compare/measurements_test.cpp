// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/measurements.hpp"

#include "test_paths.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace flashpad::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Measurements of(std::string const& text) { return measurements(results::parse(text, "f.json")); }

TEST(Measurements, OfARunAreTheTimesOfItsRightResults) {
  Measurements const file = of(
      R"({"context": {"cpu": "x"}, "rows": [
        {"case": "a", "status": "ok", "kernel": "fused", "tile": "64x64", "seq_q": 512, "median_s": 0.25,
         "spread": 0.1, "repetitions": 3, "samples_s": [0.2, 0.25, 0.3]},
        {"case": "b", "status": "oom", "median_s": null, "samples_s": null},
        {"case": "c", "status": "failed", "median_s": 0.1},
        {"case": "d", "status": "ok", "median_s": 0.5, "spread": 0.1, "repetitions": 9},
        {"case": "e", "status": "ok"}]})");
  EXPECT_EQ(file.label, "f.json");
  EXPECT_EQ(file.writer, "flashpad run");
  EXPECT_EQ(file.context["cpu"], "x");
  ASSERT_EQ(file.rows.size(), 5u);
  EXPECT_EQ(file.rows[0].seconds, 0.25);
  EXPECT_THAT(file.rows[0].samples, ElementsAre(0.2, 0.25, 0.3));
  EXPECT_EQ(file.rows[0].facts.at("seq_q"), "512");
  EXPECT_EQ(file.rows[0].facts.count("batch"), 0u) << "what the file does not tell";
  EXPECT_EQ(file.rows[1].status, "oom");
  EXPECT_FALSE(file.rows[1].seconds);
  EXPECT_FALSE(file.rows[2].seconds) << "a wrong result's time counts";
  EXPECT_EQ(file.rows[3].spread, 0.1);
  EXPECT_EQ(file.rows[3].repetitions, 9);
  EXPECT_EQ(file.rows[4].status, "not timed");
}

TEST(Measurements, OfABenchmarkKnowTheProblemByItsName) {
  Measurements const file = of(
      R"({"benchmarks": [
        {"name": "b1_h2_n64_d32_fp32_none_fused/manual_time", "real_time": 2, "time_unit": "ms"},
        {"name": "BM_of_somebody/8", "real_time": 3}]})");
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows[0].name, "b1_h2_n64_d32_fp32_none_fused");
  EXPECT_EQ(file.rows[0].facts.at("seq_k"), "64");
  EXPECT_EQ(file.rows[0].facts.at("kernel"), "fused");
  EXPECT_EQ(file.rows[1].name, "BM_of_somebody/8");
  EXPECT_THAT(file.rows[1].facts, IsEmpty());
  EXPECT_DOUBLE_EQ(*file.rows[1].seconds, 3e-9) << "nanoseconds, where no unit is given";
}

TEST(Measurements, OfASearchAreItsWinners) {
  Measurements const file = of(
      R"({"kind": "tune", "context": {}, "rows": [], "searches": [
        {"case": "b1_h8_n512_d64_bf16_none", "kernel": "fused", "backend": "cuda", "engine": "mma", "dtype": "bf16",
         "seq_q": 512, "status": "tuned", "winner": {"q": 128, "k": 64, "team": 4, "stages": 2}, "winner_median_s": 0.5},
        {"case": "y", "kernel": "stats", "dtype": "fp32", "status": "failed", "winner": null}]})");
  EXPECT_EQ(file.writer, "flashpad tune");
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows[0].name, "b1_h8_n512_d64_bf16_none_fused") << "the same on every backend";
  EXPECT_EQ(file.rows[0].seconds, 0.5);
  EXPECT_EQ(file.rows[0].facts.at("tile"), "128x64");
  EXPECT_EQ(file.rows[0].facts.at("team"), "4");
  EXPECT_EQ(file.rows[1].status, "failed");
}

TEST(Measurements, OfSearchesOnSeveralBackendsSayOnWhich) {
  Measurements const file = of(
      R"({"searches": [
        {"case": "a", "kernel": "fused", "backend": "serial", "engine": "x", "status": "tuned", "winner_median_s": 2},
        {"case": "a", "kernel": "fused", "backend": "openmp", "engine": "x", "status": "tuned", "winner_median_s": 1},
        {"case": "b", "kernel": "fused", "backend": "openmp", "engine": "x", "status": "tuned", "winner_median_s": 1},
        {"case": "b", "kernel": "fused", "backend": "openmp", "engine": "y", "status": "tuned", "winner_median_s": 3}]})");
  ASSERT_EQ(file.rows.size(), 4u);
  EXPECT_EQ(file.rows[0].name, "a_fused_serial");
  EXPECT_EQ(file.rows[1].name, "a_fused_openmp");
  EXPECT_EQ(file.rows[2].name, "b_fused_openmp_x");
  EXPECT_EQ(file.rows[3].name, "b_fused_openmp_y");
}

TEST(Measurements, KnowTheRoundsOfThePeers) {
  Measurements const gpu = of(
      R"({"rows": [{"name": "fa3", "d": 64, "causal": false, "nq": 512, "nk": 512, "b": 2, "h": 4, "dtype": "bf16",
          "round_ms": [1, 3], "ms": 2}]})");
  EXPECT_EQ(gpu.rows[0].name, "b2_h4_n512_d64_bf16_none_fa3");
  EXPECT_THAT(gpu.rows[0].samples, ElementsAre(0.001, 0.003));
  EXPECT_EQ(gpu.rows[0].seconds, 0.002);
  EXPECT_FALSE(gpu.rows[0].spread) << "the distance of rounds is none of quartiles";
  // Two rounds are known from their middle and their distance.
  Measurements const host = of(
      R"({"rows": [{"case": "c", "peer": "torch", "status": "ok", "median_s": 2, "spread": 0.5, "rounds": 2}]})");
  EXPECT_EQ(host.rows[0].name, "c_torch");
  EXPECT_THAT(host.rows[0].samples, ElementsAre(1.5, 2.5));
  EXPECT_FALSE(host.rows[0].spread);
}

// Kept results change with every measurement: the file itself says what has to come out.
nlohmann::json kept(std::string const& file) { return nlohmann::json::parse(std::ifstream(file)); }

TEST(Measurements, OfTheKeptResultsOfThePeers) {
  std::string const kept_results = FLASHPAD_SOURCE_DIR "/docs/results/";
  nlohmann::json const of_gpu = kept(kept_results + "h200-peers-bf16.json");
  Measurements const gpu = measurements(results::read(kept_results + "h200-peers-bf16.json"));
  EXPECT_EQ(gpu.writer, "gpu_peers.py");
  ASSERT_EQ(gpu.rows.size(), of_gpu["rows"].size());
  EXPECT_EQ(gpu.rows[0].facts.at("kernel"), of_gpu["rows"][0]["name"].get<std::string>());
  EXPECT_DOUBLE_EQ(*gpu.rows[0].seconds, of_gpu["rows"][0]["ms"].get<double>() * 1e-3);
  nlohmann::json const of_host = kept(kept_results + "host-peers.json");
  Measurements const host = measurements(results::read(kept_results + "host-peers.json"));
  EXPECT_EQ(host.writer, "bench_host.py");
  ASSERT_EQ(host.rows.size(), of_host["rows"].size());
  EXPECT_EQ(host.rows[0].facts.at("kernel"), of_host["rows"][0]["peer"].get<std::string>());
  EXPECT_EQ(host.rows[0].seconds, of_host["rows"][0]["median_s"].get<double>());
}

}  // namespace
}  // namespace flashpad::compare
