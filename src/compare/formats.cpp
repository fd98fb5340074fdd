// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/formats.hpp"

#include "measure/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace flashpad::compare {

namespace {

void take_facts(JsonValue const& row, std::initializer_list<char const*> names, Measurement& to) {
  for (char const* name : names) {
    if (row.has(name)) to.facts[name] = row.at(name).word();
  }
}

void take_samples(std::vector<double> samples, Measurement& to) {
  to.repetitions = static_cast<int>(samples.size());
  if (!samples.empty()) to.seconds = measure::summarise(samples).median;
  to.samples = std::move(samples);
}

Measurement of_run(JsonValue const& row) {
  Measurement m;
  m.name = row.at("case").text();
  take_facts(row,
             {"kernel", "backend", "engine", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k",
              "head_dim", "value_dim", "mask", "layout", "tile", "splits", "cache", "threads"},
             m);
  m.status = row.at("status").text();
  if (row.has("samples_s")) take_samples(row.at("samples_s").all_seconds(), m);
  if (row.has("median_s")) m.seconds = row.at("median_s").seconds();
  if (row.has("spread")) m.spread = row.at("spread").at_least_zero();
  if (row.has("repetitions")) m.repetitions = row.at("repetitions").count();
  // A wrong result has no time worth comparing.
  if (m.status != "ok") m.seconds.reset();
  if (m.status == "ok" && !m.seconds) m.status = "not timed";
  return m;
}

// Its cases are run by several programs; each round gave one median, and `spread` is theirs from least to
// most.
Measurement of_bench_host(JsonValue const& row) {
  Measurement m = of_run(row);
  std::string const peer = row.at("peer").text();
  m.name += "_" + peer;
  m.facts["kernel"] = peer;
  m.facts.erase("backend");  // which only ours has
  if (row.has("rounds") && row.at("rounds").count() == 2 && m.seconds && m.spread) {
    double const half =
        *m.seconds * *m.spread / 2;  // two rounds are known from their middle and their distance
    if (half < *m.seconds) m.samples = {*m.seconds - half, *m.seconds + half};
  }
  m.spread.reset();
  return m;
}

Measurement of_gpu_peers(JsonValue const& row) {
  constexpr double millisecond = 1e-3;
  Measurement m;
  std::string const peer = row.at("name").text();
  m.facts["kernel"] = peer;
  take_facts(row, {"engine", "dtype", "kv_heads"}, m);
  constexpr std::pair<char const*, char const*> renamed[] = {
      {"d", "head_dim"}, {"nq", "seq_q"}, {"nk", "seq_k"}, {"b", "batch"}, {"h", "heads"}};
  for (auto const& [theirs, ours] : renamed) {
    if (row.has(theirs)) m.facts[ours] = row.at(theirs).word();
  }
  if (row.has("causal")) m.facts["mask"] = row.at("causal").word() == "true" ? "causal" : "none";
  m.name = short_name(m.facts);
  if (row.has("round_ms")) take_samples(row.at("round_ms").all_seconds(millisecond), m);
  if (row.has("ms")) m.seconds = row.at("ms").seconds(millisecond);
  bool const wrong = row.has("verified") && row.at("verified").word() == "false";
  m.status = row.has("error") ? "failed" : wrong ? "failed" : m.seconds ? "ok" : "not timed";
  if (m.status != "ok") m.seconds.reset();
  return m;
}

// "case/manual_time", "case/repeats:3/manual_time": what follows the case is how it was timed.
std::string case_of(std::string const& run_name) {
  for (std::string_view const suffix : {"/manual_time", "/real_time", "/process_time", "/repeats:",
                                        "/iterations:", "/min_time:", "/min_warmup_time:", "/threads:"}) {
    std::size_t const at = run_name.find(suffix);
    if (at != std::string::npos && at > 0) return case_of(run_name.substr(0, at));
  }
  return run_name;
}

double unit_of(JsonValue const& benchmark) {
  JsonValue const unit = benchmark.at("time_unit");
  constexpr std::pair<std::string_view, double> units[] = {
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  std::string const name = benchmark.text_or("time_unit", "ns");
  for (auto const& [text, seconds] : units) {
    if (name == text) return seconds;
  }
  unit.refuse("s, ms, us or ns");
}

void add_benchmark(JsonValue const& benchmark, Measurement& row) {
  if (benchmark.has("error_occurred") && benchmark.at("error_occurred").word() == "true") {
    std::string const message = benchmark.text_or("error_message", "failed");
    row.status = message.substr(0, message.find(':'));
    return;
  }
  double const seconds = benchmark.at("real_time").seconds(unit_of(benchmark));
  row.status = "ok";
  if (benchmark.text_or("run_type", "iteration") == "aggregate") {
    if (row.samples.empty()) row.seconds = seconds;
    return;
  }
  row.samples.push_back(seconds);
}

}  // namespace

void read_rows(JsonValue const& rows, ResultFile& file) {
  file.writer = "flashpad run";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JsonValue const row = rows.at(i);
    if (row.has("peer")) {
      file.writer = "bench_host.py";
      file.rows.push_back(of_bench_host(row));
    } else if (!row.has("case") && row.has("name")) {
      file.writer = "gpu_peers.py";
      file.rows.push_back(of_gpu_peers(row));
    } else {
      file.rows.push_back(of_run(row));
    }
  }
}

void read_searches(JsonValue const& searches, ResultFile& file) {
  file.writer = "flashpad tune";
  for (std::size_t i = 0; i < searches.size(); ++i) {
    JsonValue const search = searches.at(i);
    Measurement m;
    take_facts(search,
               {"kernel", "backend", "engine", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k",
                "head_dim", "value_dim", "mask"},
               m);
    m.name = short_name(m.facts, "backend");
    m.status = search.at("status").text();
    if (search.has("winner_median_s")) {
      m.seconds = search.at("winner_median_s").seconds();
      m.status = "ok";
    }
    if (search.has("winner")) {
      JsonValue const winner = search.at("winner");
      m.facts["tile"] = winner.at("q").word() + "x" + winner.at("k").word();
      take_facts(winner, {"team", "stages"}, m);
    }
    file.rows.push_back(std::move(m));
  }
}

void read_google_benchmark(JsonValue const& benchmarks, ResultFile& file) {
  file.writer = "Google Benchmark";
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    JsonValue const benchmark = benchmarks.at(i);
    bool const aggregate = benchmark.text_or("run_type", "iteration") == "aggregate";
    if (aggregate && benchmark.text_or("aggregate_name", "") != "median") continue;
    std::string const name = case_of(benchmark.text_or("run_name", benchmark.at("name").text()));
    auto const [found, added] = place.emplace(name, file.rows.size());
    if (added) file.rows.emplace_back().name = name;
    add_benchmark(benchmark, file.rows[found->second]);
  }
  for (Measurement& row : file.rows) {
    if (row.status == "ok" && !row.samples.empty()) take_samples(row.samples, row);
    if (row.status != "ok") row.seconds.reset();
  }
}

}  // namespace flashpad::compare
