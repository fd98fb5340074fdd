// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/tuning.hpp>

#include "problem/text.hpp"
#include "tuning/cache.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <mutex>

namespace flashpad {

namespace tuning {

namespace {

/// What changes when a file is replaced or written to.
struct Stamp {
  bool exists = false;
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, seconds = 0, nanoseconds = 0;

  friend bool operator==(Stamp const&, Stamp const&) = default;
};

Stamp stamp_of(std::string const& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return {};
  return {true, status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

std::string default_file() {
  auto const variable = [](char const* name) {
    char const* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string const own = variable("FLASHPAD_TUNING_CACHE");
  if (!own.empty()) return own == "off" ? "" : own;
  std::string const caches = variable("XDG_CACHE_HOME");
  if (!caches.empty()) return caches + "/flashpad/tuning.json";
  std::string const home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/flashpad/tuning.json";
}

/// The cache in use, as last read.
struct InUse {
  std::mutex mutex;
  std::string file = default_file();
  std::string version;
  std::optional<Stamp> stamp;
  Cache cache;
};

InUse& in_use() {
  static InUse state;
  return state;
}

}  // namespace

Found find(std::string const& key, std::string const& version) {
  InUse& use = in_use();
  std::lock_guard const lock(use.mutex);
  if (use.file.empty()) return {};
  Stamp const now = stamp_of(use.file);
  if (use.stamp != now || use.version != version) {
    use.cache = read_cache(use.file, version);
    use.stamp = now;
    use.version = version;
  }
  auto const entry = use.cache.entries.find(key);
  if (entry != use.cache.entries.end()) return {entry->second, use.file, ""};
  if (use.cache.refused.empty()) return {std::nullopt, use.file, ""};
  std::string note = "tuning cache " + use.cache.refused.front();
  if (use.cache.refused.size() > 1) note += detail::text(" (and ", use.cache.refused.size() - 1, " more)");
  return {std::nullopt, use.file, note};
}

}  // namespace tuning

std::string tuning_cache_file() {
  tuning::InUse& use = tuning::in_use();
  std::lock_guard const lock(use.mutex);
  return use.file;
}

void set_tuning_cache(std::string const& file) {
  tuning::InUse& use = tuning::in_use();
  std::lock_guard const lock(use.mutex);
  use.file = file;
  use.stamp.reset();
}

}  // namespace flashpad
