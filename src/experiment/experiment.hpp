// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include <flashpad/types.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace flashpad {

enum class Layout : std::uint8_t { bhnd, bnhd };
enum class Distribution : std::uint8_t { normal, uniform, unbalanced, constant };
enum class Cache : std::uint8_t { cold, warm };

std::string_view name(Layout layout) noexcept;
std::string_view name(Distribution distribution) noexcept;
std::string_view name(Cache cache) noexcept;

/// Paths of the user's own tensors, already resolved against the experiment file's folder.
struct TensorFiles {
  std::filesystem::path q, k, v;
};

/// One cell of the sweep: what is computed, by which kernel, where.
struct Case {
  std::string name;         ///< unique within the experiment; safe in a file name
  std::string problem_key;  ///< equal for cases that differ only in how they are computed
  Shape shape;
  DType dtype = DType::fp32;
  Mask mask;
  std::optional<double> scale;
  Layout layout = Layout::bhnd;
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;
  std::optional<TensorFiles> tensors;  ///< in place of generated inputs; dtype converts
  Kernel kernel = Kernel::automatic;
  std::string backend;  ///< serial, openmp, threads, cuda, hip, or auto
  std::string engine;   ///< empty: the library chooses
  Tile tile;
  int team = 0;    ///< threads of a team; 0: the library chooses
  int stages = 0;  ///< key tiles in flight, likewise
  int splits = 0;
  bool probabilities_in_input_type = false;
  bool skip_hidden_tiles = true;
};

struct Timing {
  int warmup = 2;
  int repetitions = 10;
  Cache cache = Cache::cold;
};

/// Values that a search for the best tile tries, the product of four lists; an empty list is the engine's
/// default.
struct TuneSpace {
  std::vector<int> q, k, team, stages;
};

/// What `flashpad tune` looks at once a problem is tuned: another length, and another batch.
struct TuneObserve {
  std::int64_t seq = 0;
  std::int64_t batch = 0;
};

struct Tune {
  TuneSpace space;
  std::optional<TuneObserve> observe;
};

struct Output {
  std::filesystem::path json, csv, o, lse;  ///< empty: not written
};

/// A whole experiment, valid and expanded: the product of all lists in the order they were written.
struct Experiment {
  std::string name;
  std::filesystem::path file;
  std::vector<Case> cases;
  std::optional<double> memory_limit;  ///< bytes; unset is auto
  bool verify = true;
  std::optional<double> expected_speedup;  ///< fused over naive, checked on every pair when given
  Timing timing;
  Tune tune;
  Output output;
};

/// Reads, validates and expands an experiment. `overrides` are "path=value" pairs of the command line,
/// applied before validation. Throws Error with file:line:column, the key's full path, what was found and
/// what is allowed.
Experiment read_experiment(std::filesystem::path const& file, std::vector<std::string> const& overrides = {});

/// As read_experiment, from text; `label` stands for the file's name in messages. Relative paths are
/// resolved against the current folder.
Experiment parse_experiment(std::string const& text, std::string const& label,
                            std::vector<std::string> const& overrides = {});

/// Puts files named on the command line (--json, --csv) in place of output.json and output.csv; an empty one
/// leaves the experiment's. Throws Error on what the experiment's own outputs would be refused for: braces,
/// or a file that is the experiment, an input or another result.
void replace_reports(Experiment& experiment, std::string const& json, std::string const& csv);

/// Throws Error where the file of a command-line option is the experiment or an input.
void require_own_file(Experiment const& experiment, std::string const& option, std::string const& file);

}  // namespace flashpad
