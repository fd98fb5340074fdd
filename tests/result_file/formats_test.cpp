// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files as each program writes them.
#include "json_files.hpp"

#include "report/json.hpp"
#include "result_file/result_file.hpp"

#include <test_paths.hpp>

namespace flashpad::results {
namespace {

class Formats : public JsonFiles {};

Row measured() {
  Row row;
  row.case_name = "b1_h2_n512_d64_fp32_causal_fused_t64x32";
  row.kernel = "fused";
  row.backend = "openmp";
  row.dtype = "fp32";
  row.shape = {
      .batch = 1, .heads = 2, .kv_heads = 2, .seq_q = 512, .seq_k = 512, .head_dim = 64, .value_dim = 64};
  row.mask = "causal";
  row.layout = "bhnd";
  row.tile = "64x32";
  row.status = Status::ok;
  row.median_s = 0.002;
  row.tflops = 0.25;
  row.bytes_model = 5e5;
  row.intensity = 128;
  row.roof = "compute";
  row.roof_fraction = 0.5;
  row.verified = true;
  row.max_abs_err = 1e-7;
  row.tolerance = 1e-5;
  return row;
}

TEST_F(Formats, SimulatedBytesComeBackAsThat) {
  Row row = measured();
  row.case_name = "b1_h2_n512_d64_fp32_none_fused_t64x32";
  row.counters.emplace().simulated_bytes = 1920;
  ResultFile const read_back = read(file(report::json_document({{"cpu", "A CPU"}}, {row, measured()})));
  ASSERT_EQ(read_back.entries.size(), 2u);
  ASSERT_TRUE(read_back.entries[0].row.counters.has_value());
  EXPECT_EQ(read_back.entries[0].row.counters->simulated_bytes, 1920);
  EXPECT_FALSE(read_back.entries[0].row.bytes_measured.has_value());
  EXPECT_FALSE(read_back.entries[1].row.counters.has_value());
}

TEST_F(Formats, ARowOfRunComesBackAsItWas) {
  nlohmann::ordered_json const context = {{"cpu", "A CPU"},
                                          {"backends",
                                           {{{"name", "openmp"},
                                             {"device", nullptr},
                                             {"peak_flops_fp32", 5e11},
                                             {"peak_flops_fp64", 2e11},
                                             {"peak_bytes_per_s", 4e10}}}}};
  Row lost = measured();
  lost.case_name = "b1_h2_n9999_d64_fp32_causal_naive";
  lost.status = Status::oom;
  lost.median_s.reset();
  lost.bytes_needed = 1e9;
  ResultFile const read_back = read(file(report::json_document(context, {measured(), lost})));
  EXPECT_EQ(read_back.format, "flashpad run");
  ASSERT_EQ(read_back.entries.size(), 2u);
  Entry const& entry = read_back.entries[0];
  EXPECT_EQ(report::to_json(entry.row).dump(), report::to_json(measured()).dump());
  EXPECT_EQ(entry.contender, "fused");
  EXPECT_EQ(entry.method, "fused t64x32");
  EXPECT_EQ(entry.machine, "A CPU");
  ASSERT_EQ(entry.roofs.peaks.size(), 1u) << "float64's peak is none of float32's roofs";
  EXPECT_EQ(entry.roofs.peaks[0].flops, 5e11);
  EXPECT_EQ(entry.roofs.bandwidth, 4e10);
  EXPECT_EQ(read_back.entries[1].row.status, Status::oom);
  EXPECT_EQ(read_back.entries[1].row.bytes_needed, 1e9);
}

TEST_F(Formats, ADeviceIsTheMachine) {
  nlohmann::ordered_json const context = {{"cpu", "A CPU"},
                                          {"backends", {{{"name", "openmp"}, {"device", "A GPU"}}}}};
  EXPECT_EQ(read(file(report::json_document(context, {measured()}))).entries[0].machine, "A GPU");
}

TEST_F(Formats, BytesThatAFileLeavesOutAreTheModels) {
  Row row = measured();
  row.intensity.reset();
  row.bytes_model.reset();
  row.flops = 1e6;
  ResultFile const whole = read(file(report::json_document({{"cpu", "A CPU"}}, {row})));
  Entry const& entry = whole.entries[0];
  EXPECT_TRUE(entry.estimated);
  EXPECT_EQ(entry.row.bytes_model, 4.0 * 2 * 512 * 64 * 4) << "Q, K, V and O once";
  EXPECT_EQ(entry.row.intensity, 1e6 / (4.0 * 2 * 512 * 64 * 4));
  row.bytes_model = 77;
  EXPECT_FALSE(read(file(report::json_document({{"cpu", "A CPU"}}, {row}))).entries[0].estimated);
}

// The kept results change when they are measured again: what is read is held against the file itself.
nlohmann::json rows_of(std::string const& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream).at("rows");
}

TEST_F(Formats, KeptResultsOfTheHost) {
  std::string const path = FLASHPAD_SOURCE_DIR "/docs/results/host-peers.json";
  ResultFile const host = read(path);
  nlohmann::json const rows = rows_of(path);
  EXPECT_EQ(host.format, "bench_host.py");
  ASSERT_EQ(host.entries.size(), rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Entry const& entry = host.entries[r];
    bool const ours = rows[r].at("peer") == "flashpad";
    EXPECT_EQ(entry.contender, rows[r].at("peer").get<std::string>());
    EXPECT_EQ(entry.threads, rows[r].at("threads"));
    EXPECT_EQ(entry.row.median_s, rows[r].at("median_s").get<double>());
    EXPECT_EQ(entry.roofs.bandwidth > 0, ours);
    EXPECT_EQ(entry.row.bytes_model.has_value(), ours) << "nobody knows what a peer moves";
  }
}

TEST_F(Formats, KeptResultsOfTheGpusPeers) {
  std::string const path = FLASHPAD_SOURCE_DIR "/docs/results/h200-peers-bf16.json";
  ResultFile const gpu = read(path);
  nlohmann::json const rows = rows_of(path);
  EXPECT_EQ(gpu.format, "gpu_peers.py");
  ASSERT_EQ(gpu.entries.size(), rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Entry const& entry = gpu.entries[r];
    EXPECT_EQ(entry.contender, rows[r].at("name").get<std::string>());
    EXPECT_EQ(entry.row.kernel, rows[r].value("kernel", ""));
    EXPECT_EQ(entry.machine, "NVIDIA H200");
    EXPECT_EQ(entry.row.mask == "causal", rows[r].at("causal").get<bool>());
    EXPECT_EQ(entry.row.shape.batch, rows[r].at("b"));
    EXPECT_DOUBLE_EQ(*entry.row.median_s, rows[r].at("ms").get<double>() / 1e3);
    EXPECT_EQ(entry.row.spread.has_value(), rows[r].contains("round_ms"));
    EXPECT_EQ(entry.row.verified, rows[r].at("verified").get<bool>());
  }
}

TEST_F(Formats, GoogleBenchmarkByTheMedianOfItsRepetitions) {
  ResultFile const read_back = read(file(R"({"context": {"host_name": "there"}, "benchmarks": [
    {"name": "b1_h1_n64_d32_fp32_none_fused/manual_time", "run_name": "b1_h1_n64_d32_fp32_none_fused/manual_time", "run_type": "iteration", "real_time": 3.0, "time_unit": "ms", "FLOP/s": 1e9, "model_bytes/s": 2e6, "N": 64},
    {"name": "b1_h1_n64_d32_fp32_none_fused/manual_time", "run_name": "b1_h1_n64_d32_fp32_none_fused/manual_time", "run_type": "iteration", "real_time": 1.0, "time_unit": "ms", "FLOP/s": 1e9, "N": 64},
    {"name": "b1_h1_n64_d32_fp32_none_fused/manual_time", "run_name": "b1_h1_n64_d32_fp32_none_fused/manual_time", "run_type": "iteration", "real_time": 2.0, "time_unit": "ms", "FLOP/s": 1e9, "N": 64},
    {"name": "b1_h1_n64_d32_fp32_none_fused/manual_time_mean", "run_name": "b1_h1_n64_d32_fp32_none_fused/manual_time", "run_type": "aggregate", "real_time": 9.0, "time_unit": "ms"},
    {"name": "b1_h1_n99_d32_fp32_none_naive/manual_time", "run_name": "b1_h1_n99_d32_fp32_none_naive/manual_time", "run_type": "iteration", "error_occurred": true, "error_message": "oom: needs 9 GiB", "real_time": 0.0, "time_unit": "s"},
    {"name": "BM_of_somebody/8", "run_type": "iteration", "real_time": 5.0, "time_unit": "us"}]})"));
  EXPECT_EQ(read_back.format, "Google Benchmark");
  ASSERT_EQ(read_back.entries.size(), 3u);
  EXPECT_EQ(read_back.entries[0].row.median_s, 0.002);
  EXPECT_EQ(read_back.entries[0].row.repetitions, 3);
  EXPECT_EQ(read_back.entries[0].row.kernel, "fused");
  EXPECT_EQ(read_back.entries[0].row.shape.seq_k, 64);
  EXPECT_EQ(read_back.entries[0].machine, "there");
  EXPECT_DOUBLE_EQ(*read_back.entries[0].row.bytes_model, 6000)
      << "bytes a second of a call times its seconds";
  EXPECT_EQ(read_back.entries[1].row.status, Status::oom);
  EXPECT_EQ(read_back.entries[1].row.reason, "oom: needs 9 GiB");
  EXPECT_EQ(read_back.entries[2].contender, "BM_of_somebody/8");
  EXPECT_EQ(
      read(file(R"({"context": {"flashpad_version": "1"}, "benchmarks": [{"name": "x", "real_time": 1}]})"))
          .format,
      "flashpad bench");
}

TEST_F(Formats, GoogleBenchmarkWhoseRepetitionsWereNotKept) {
  ResultFile const read_back = read(file(R"({"benchmarks": [
    {"name": "b/repeats:3/manual_time", "run_name": "b/repeats:3/manual_time", "real_time": 1, "time_unit": "s"},
    {"name": "b/repeats:3/manual_time", "run_name": "b/repeats:3/manual_time", "real_time": 5, "time_unit": "s"},
    {"name": "b/repeats:3/manual_time", "run_name": "b/repeats:3/manual_time", "real_time": 3, "time_unit": "s"},
    {"name": "b_median", "run_name": "b/repeats:3/manual_time", "run_type": "aggregate", "aggregate_name": "median", "real_time": 9, "time_unit": "s"},
    {"name": "c_median", "run_name": "c", "run_type": "aggregate", "aggregate_name": "median", "real_time": 7, "time_unit": "us"},
    {"name": "d", "run_name": "d", "error_occurred": true, "error_message": "failed: wrong"},
    {"name": "d", "run_name": "d", "real_time": 7, "time_unit": "us"}]})"));
  ASSERT_EQ(read_back.entries.size(), 3u);
  EXPECT_EQ(read_back.entries[0].row.case_name, "b");
  EXPECT_EQ(read_back.entries[0].row.median_s, 3);
  EXPECT_EQ(read_back.entries[0].row.samples_s, (std::vector<double>{1, 5, 3}));
  EXPECT_DOUBLE_EQ(*read_back.entries[1].row.median_s, 7e-6);
  EXPECT_EQ(read_back.entries[1].row.samples_s.size(), 0u);
  EXPECT_EQ(read_back.entries[2].row.status, Status::failed) << "one repetition was wrong";
}

TEST_F(Formats, TrialsOfOneProblemGoToTheirOwnSearch) {
  ResultFile const tuned = read(file(
      R"({"searches": [{"case": "one", "kernel": "fused", "engine": "a", "status": "tuned"}, {"case": "one", "kernel": "hopper", "status": "tuned"},
                     {"case": "one", "kernel": "fused", "engine": "b", "status": "tuned"}],
    "rows": [{"case": "one", "kernel": "hopper", "tile": "a"}, {"case": "one", "kernel": "fused", "tile": "b"}, {"search": 2, "case": "one", "kernel": "fused", "tile": "c"}]})"));
  ASSERT_EQ(tuned.searches.size(), 3u);
  for (auto const& [search, tile] : {std::pair{0, "b"}, std::pair{1, "a"}, std::pair{2, "c"}}) {
    ASSERT_EQ(tuned.searches[static_cast<std::size_t>(search)].trials.size(), 1u);
    EXPECT_EQ(tuned.searches[static_cast<std::size_t>(search)].trials[0].tile, tile);
  }
}

TEST_F(Formats, SearchesWithTheirTrials) {
  ResultFile const tuned = read(
      file(R"({"kind": "tune", "context": {"cpu": "A CPU", "backends": [{"name": "cuda", "device": "A GPU"}]},
    "searches": [{"case": "one", "kernel": "fused", "backend": "cuda", "status": "tuned", "speedup_vs_table": 1.25, "cost": {"total_s": 3.5}},
                 {"case": "two", "kernel": "stats", "backend": "openmp", "status": "failed", "reason": "all failed"}],
    "rows": [{"case": "one", "tile": "64x32", "q": 64, "k": 32, "team": 4, "stages": 2, "status": "ok", "median_s": 0.001, "winner": true},
             {"case": "one", "tile": "128x128", "q": 128, "k": 128, "status": "pruned", "pruned": true, "reason": "200 KiB", "median_s": null}]})"));
  EXPECT_EQ(tuned.format, "flashpad tune");
  ASSERT_EQ(tuned.searches.size(), 2u);
  EXPECT_EQ(tuned.searches[0].machine, "A GPU");
  EXPECT_EQ(tuned.searches[1].machine, "A CPU");
  EXPECT_EQ(tuned.searches[0].cost_s, 3.5);
  ASSERT_EQ(tuned.searches[0].trials.size(), 2u);
  EXPECT_TRUE(tuned.searches[0].trials[0].winner);
  EXPECT_EQ(tuned.searches[0].trials[1].status, "pruned");
  EXPECT_FALSE(tuned.searches[0].trials[1].median_s);
  EXPECT_EQ(tuned.searches[1].reason, "all failed");
}

}  // namespace
}  // namespace flashpad::results
