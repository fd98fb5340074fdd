// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tuning/lookup.hpp"

#include <map>
#include <string>
#include <vector>

namespace flashpad::tuning {

/// The contents of a cache file.
struct Cache {
  std::map<std::string, Entry> entries;  ///< by key
  /// What was not taken, and why, one line each, with the file's name: the whole file where it is no tuning
  /// cache, or single entries.
  std::vector<std::string> refused;
};

/// Reads a cache for this version of Flashpad. A file that is not there is an empty cache; nothing is thrown:
/// what cannot be read, has another form, was not verified, repeats a key, or is another version's, is
/// refused by name.
Cache read_cache(std::string const& file, std::string const& version);

/// The text of a cache file.
std::string cache_text(Cache const& cache);

}  // namespace flashpad::tuning
