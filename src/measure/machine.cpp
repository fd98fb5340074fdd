// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace flashpad::measure {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(fs::path const& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  return line;
}

std::optional<double> number(std::string const& text) {
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> number_in(fs::path const& file) {
  auto const line = first_line(file);
  return line ? number(*line) : std::nullopt;
}

// Value of "key ... : value" or "key: value kB" in a file of such lines.
std::optional<std::string> value_of(fs::path const& file, std::string const& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::size_t const colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    std::size_t const begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return std::nullopt;
}

// Folders of the cgroup that this process is in and of those above it, for one controller.
std::vector<fs::path> cgroup_folders(fs::path const& root, std::string const& controller) {
  std::vector<fs::path> folders;
  auto const add_chain = [&](fs::path const& mount, std::string const& group) {
    // In a container the path may name a folder of the host's: then the mount itself is the cgroup.
    fs::path const below = fs::path(group).relative_path();
    for (fs::path part = below;; part = part.parent_path()) {
      folders.push_back(mount / part);
      if (part.empty()) break;
    }
  };
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {  // "hierarchy:controllers:path"
    std::size_t const first = line.find(':');
    std::size_t const second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string const controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    std::string const group = line.substr(second + 1);
    if (controllers == ",,") {
      add_chain(root / "sys/fs/cgroup", group);
    } else if (controllers.find(fmt::format(",{},", controller)) != std::string::npos) {
      add_chain(root / "sys/fs/cgroup" / controller, group);
    }
  }
  return folders;
}

// File cache that the kernel gives back under pressure counts as used in a cgroup; it is free to us.
double reclaimable(fs::path const& folder) {
  std::ifstream stream(folder / "memory.stat");
  double inactive = 0;
  for (std::string key; stream >> key;) {
    double value = 0;
    stream >> value;
    if (key == "inactive_file" || key == "total_inactive_file") inactive = std::max(inactive, value);
  }
  return inactive;
}

}  // namespace

double host_memory_free(fs::path const& root) {
  double free = 0;
  if (auto const available = value_of(root / "proc/meminfo", "MemAvailable")) {
    free = 1024 * number(*available).value_or(0);
  }
  for (fs::path const& folder : cgroup_folders(root, "memory")) {
    auto limit = number_in(folder / "memory.max");  // "max" is no number: no limit
    auto used = number_in(folder / "memory.current");
    if (!limit) limit = number_in(folder / "memory.limit_in_bytes");
    if (!used) used = number_in(folder / "memory.usage_in_bytes");
    if (limit && used) free = std::min(free, std::max(0.0, *limit - *used + reclaimable(folder)));
  }
  return free;
}

double last_level_cache(fs::path const& root) {
  double largest = 0;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(root / "sys/devices/system/cpu/cpu0/cache", ignored)) {
    auto const size = first_line(entry.path() / "size");  // "32768K"
    if (!size || size->empty()) continue;
    double const unit = size->back() == 'K' ? 1024.0 : size->back() == 'M' ? 1024.0 * 1024 : 1.0;
    largest = std::max(largest, unit * number(*size).value_or(0));
  }
  return largest;
}

std::optional<double> cpu_quota(fs::path const& root) {
  std::optional<double> quota;
  auto const take = [&](double processors) { quota = quota ? std::min(*quota, processors) : processors; };
  for (fs::path const& folder : cgroup_folders(root, "cpu")) {
    if (auto const line = first_line(folder / "cpu.max")) {  // "200000 100000" or "max 100000"
      std::istringstream words(*line);
      double allowed = 0;
      double period = 0;
      if (words >> allowed >> period && period > 0) take(allowed / period);
    }
    auto const allowed = number_in(folder / "cpu.cfs_quota_us");
    auto const period = number_in(folder / "cpu.cfs_period_us");
    if (allowed && period && *allowed > 0 && *period > 0) take(*allowed / *period);
  }
  return quota;
}

std::string cpu_model(fs::path const& root) {
  if (auto const model = value_of(root / "proc/cpuinfo", "model name")) return *model;
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

std::optional<double> cpu_mhz(fs::path const& root) {
  auto const mhz = value_of(root / "proc/cpuinfo", "cpu MHz");
  return mhz ? number(*mhz) : std::nullopt;
}

std::optional<std::string> cpu_governor(fs::path const& root) {
  return first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
}

}  // namespace flashpad::measure
