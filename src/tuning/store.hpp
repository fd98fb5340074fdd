// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tuning/cache.hpp"

namespace flashpad::tuning {

/// Puts an entry into a cache file, in place of one with its key, and keeps all others. Safe with other
/// processes that do the same: they take turns at a lock file beside it, and a reader sees the file before or
/// after, whole. What the file held that read_cache refuses is dropped and returned, one line each; a file
/// that was refused whole is kept as FILE.refused. Throws Error where the file cannot be written.
std::vector<std::string> store(std::string const& file, std::string const& version, Entry const& entry);

}  // namespace flashpad::tuning
