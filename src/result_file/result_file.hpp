// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"
#include "result_file/facts.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Reads what was measured back from a file: `flashpad run --json`, `flashpad bench --benchmark_out`,
// `flashpad tune --json`, scripts/bench_host.py and scripts/gpu_peers.py.

namespace flashpad::results {

/// The name of the peak of 16-bit products on a GPU's matrix units.
inline constexpr char const* matrix_units = "matrix units";

/// A rate of operations that the machine was seen to reach, under the name of the type or unit that did.
struct Peak {
  std::string name;
  double flops = 0;
};

/// What is known of the roofs over a row. No peaks, or a bandwidth of 0, where the file does not say.
struct Roofs {
  std::vector<Peak> peaks;
  double bandwidth = 0;  ///< bytes a second
};

/// A measured row, and what its file says of it beyond Row.
struct Entry {
  Row row;  ///< `case_name` is unique in the file
  Facts facts;
  std::string contender;  ///< a kernel of ours, or the name of a peer
  std::string method;   ///< the contender with its options as the case's name has them, "fused t64x64 noskip"
  std::string variant;  ///< what sets the problem apart beyond its shape: scale, distribution, seed
  std::string machine;  ///< device or processor
  int threads = 0;      ///< 0 where the file does not say
  bool spread_of_rounds = false;  ///< row.spread is the distance of rounds, not of quartiles
  bool estimated = false;         ///< bytes_model and what follows from it were worked out here, by the model
  Roofs roofs;
};

/// One configuration of a search for the best tile.
struct Trial {
  std::string tile;
  std::int64_t q = 0;
  std::int64_t k = 0;
  std::int64_t team = 0;
  std::int64_t stages = 0;
  std::string status;  ///< "ok", "failed", "oom" or "pruned": never run
  std::string reason;
  std::optional<double> median_s;        ///< in the search
  std::optional<double> final_median_s;  ///< of those that were measured once more, in turn
  std::optional<double> tflops;
  bool winner = false;
  bool from_table = false;  ///< what would have run without tuning
};

/// What `flashpad tune` did for one problem.
struct Search {
  std::string case_name;
  Facts facts;  ///< of the problem and, where there is one, of the winner
  std::string kernel;
  std::string machine;
  std::string status;  ///< "tuned", "cached" or "failed"
  std::string reason;
  std::optional<double> winner_median_s;
  std::optional<double> table_median_s;
  std::optional<double> speedup_vs_table;
  std::optional<double> cost_s;
  std::vector<Trial> trials;
};

struct ResultFile {
  std::filesystem::path path;
  std::string format;  ///< the program that writes such files
  nlohmann::ordered_json context;
  std::vector<Entry> entries;
  std::vector<Search> searches;
};

inline constexpr std::size_t most_rows = 20000;

/// Throws Error that names the file, the place in it, what was found and what is allowed: where it cannot be
/// read, is no JSON, is none of the known formats, has a value of another type, a key or a case twice, no
/// rows, or more than `most_rows`.
ResultFile read(std::filesystem::path const& file);

/// As read, from text; `path` stands for the file in errors.
ResultFile parse(std::string const& text, std::filesystem::path const& path);

}  // namespace flashpad::results
