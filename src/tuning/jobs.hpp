// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace flashpad::tuning {

/// Why `jobs` searches of `threads` threads each would disturb each other here, as one line; empty where each
/// can have processors of its own. A GPU is one place: its jobs would share it.
std::string jobs_refusal(int jobs, int threads, bool on_gpu);

/// Runs this program `jobs` times at once, each on processors of its own, with `arguments` and `--share
/// i/jobs` after them, and waits. Returns how many did not end well. A signal that interrupts this process is
/// passed on to them.
int run_jobs(int jobs, int threads, std::vector<std::string> const& arguments);

}  // namespace flashpad::tuning
