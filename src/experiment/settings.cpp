// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/settings.hpp"

#include "experiment/diagnostics.hpp"
#include "experiment/scalars.hpp"

#include <algorithm>
#include <array>

namespace flashpad::sweep {

namespace {

using yaml::Node;

void read_timing(Node const& node, Timing& timing) {
  constexpr int limit = 1000000;
  require_map(node, "timing", {"warmup", "repetitions", "cache"});
  if (Node const* warmup = node.find("warmup")) {
    timing.warmup = static_cast<int>(read_integer(*warmup, "timing.warmup", 0, limit));
  }
  if (Node const* repetitions = node.find("repetitions")) {
    timing.repetitions = static_cast<int>(read_integer(*repetitions, "timing.repetitions", 1, limit));
  }
  if (Node const* cache = node.find("cache")) {
    timing.cache = std::array{Cache::cold, Cache::warm}[read_word(*cache, "timing.cache", {"cold", "warm"})];
  }
}

double read_expected_speedup(Node const& node, std::vector<Case> const& cases) {
  double const speedup = read_number(node, "expected_speedup");
  if (speedup <= 0) fail_found(node, "expected_speedup", "a number above 0");
  for (Kernel const kernel : {Kernel::naive, Kernel::fused}) {
    if (std::any_of(cases.begin(), cases.end(), [&](Case const& c) { return c.kernel == kernel; })) continue;
    fail(node.at, "expected_speedup",
         "compares fused with naive, and kernels has no " + std::string(flashpad::name(kernel)) +
             "; allowed: with both");
  }
  return speedup;
}

}  // namespace

void read_settings(Node const& root, Experiment& experiment) {
  if (Node const* name = root.find("name")) experiment.name = read_text_value(*name, "name");
  if (Node const* limit = root.find("memory_limit"); limit != nullptr && !is_word(*limit, "auto")) {
    experiment.memory_limit = read_bytes(*limit, "memory_limit");
  }
  if (Node const* verify = root.find("verify")) experiment.verify = read_boolean(*verify, "verify");
  if (Node const* speedup = root.find("expected_speedup")) {
    experiment.expected_speedup = read_expected_speedup(*speedup, experiment.cases);
  }
  if (Node const* timing = root.find("timing")) read_timing(*timing, experiment.timing);
}

}  // namespace flashpad::sweep
