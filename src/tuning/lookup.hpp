// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>

#include <optional>
#include <string>

// What a plan needs of the cache. Device code's compilers include it: hipcc's Clang 15 crashes on a std::map
// in C++20.

namespace flashpad::tuning {

/// What a search chooses: how a tiled kernel cuts its work. 0 is the library's choice.
struct Configuration {
  Tile tile;
  int team = 0;    ///< threads of a team, warps or wavefronts on a GPU
  int stages = 0;  ///< key tiles in flight

  friend bool operator==(Configuration const& a, Configuration const& b) {
    return a.tile == b.tile && a.team == b.team && a.stages == b.stages;
  }
};

/// One winner, with what it was measured on.
struct Entry {
  std::string key;  ///< key_of()
  Configuration winner;
  double median_s = 0;  ///< more than 0
  double max_abs_err = 0;
  std::string case_name;  ///< of the problem that was tuned
  std::string date;
};

/// What a plan learns from the cache in use.
struct Found {
  std::optional<Entry> entry;
  std::string file;  ///< empty where the cache is off
  std::string note;  ///< one line: what was refused, where there is no entry
};

/// Looks into tuning_cache_file(), which is read again when it has changed. Any thread may call it.
Found find(std::string const& key, std::string const& version);

}  // namespace flashpad::tuning
