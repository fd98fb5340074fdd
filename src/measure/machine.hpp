// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>

// What the operating system says about this machine. `root` stands for "/" and lets a test bring its own
// files.

namespace flashpad::measure {

/// Bytes that this process can still take: what the kernel calls available, cut down to what the limits of
/// its cgroup and of all cgroups above leave (version 1 and 2).
double host_memory_free(std::filesystem::path const& root = "/");

/// Size of the largest cache of one core in bytes; 0 where the system does not say.
double last_level_cache(std::filesystem::path const& root = "/");

/// Processors' worth of time that the cgroup allows; empty without a limit.
std::optional<double> cpu_quota(std::filesystem::path const& root = "/");

/// "AMD EPYC 9654", or the machine's architecture where no name is given.
std::string cpu_model(std::filesystem::path const& root = "/");

/// Present clock of the first processor in MHz, and the policy that sets it; empty where unreadable.
std::optional<double> cpu_mhz(std::filesystem::path const& root = "/");
std::optional<std::string> cpu_governor(std::filesystem::path const& root = "/");

}  // namespace flashpad::measure
