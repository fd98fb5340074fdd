// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flashpad::compare {

/// One row of a result file, whichever program wrote it.
struct Measurement {
  std::string name;  ///< unique in its file
  /// What was computed and how, under the names of docs/reports.md; what the file does not tell is absent.
  std::map<std::string, std::string> facts;
  std::string status;             ///< "ok", or why there is no time
  std::optional<double> seconds;  ///< median
  std::vector<double> samples;    ///< seconds, in the order they were taken; empty where the file has none
  std::optional<double> spread;   ///< (75th - 25th percentile) / median, of `repetitions` samples
  int repetitions = 0;
};

struct ResultFile {
  std::string label;  ///< as it was named
  std::string
      writer;  ///< "flashpad run", "flashpad tune", "Google Benchmark", "bench_host.py", "gpu_peers.py"
  nlohmann::json context;  ///< an object; empty where the file has none
  std::vector<Measurement> rows;
};

/// A problem and a method in short, as case names have them: "b32_h16_n512k4096_d64_bf16_causal_openmp_t2".
/// Facts that are absent, and the one left out, have no part in it.
std::string short_name(std::map<std::string, std::string> const& facts, std::string const& leave_out = "");

/// Reads a result file of any of the five writers. Throws Error in one line that names the file, and the line
/// and column of broken JSON or the path of the value at fault, with what is allowed.
ResultFile read_results(std::filesystem::path const& file);

/// As read_results, from text; `label` stands for the file's name.
ResultFile parse_results(std::string const& text, std::string const& label);

}  // namespace flashpad::compare
