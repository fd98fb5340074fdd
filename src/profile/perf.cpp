// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/perf.hpp"

#include "profile/host_counters.hpp"
#include "profile/profiler.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <sys/utsname.h>

namespace flashpad::profile {

namespace {

std::optional<double> number(nlohmann::json const& json, char const* key) {
  if (!json.contains(key) || json[key].is_null()) return std::nullopt;
  if (!json[key].is_number() || json[key].get<double>() < 0) {
    throw Error(fmt::format("perf_event: {} is `{}`; a number of 0 or more was expected", key,
                            brief(json[key].dump())));
  }
  return json[key].get<double>();
}

/// The child counts for itself (app/profile.cpp) and prints JSON.
class Perf final : public Profiler {
 public:
  [[nodiscard]] std::string name() const override { return "perf_event"; }
  [[nodiscard]] Range range() const override { return Range::perf; }

  [[nodiscard]] std::string version() const override {
    utsname system{};
    return ::uname(&system) == 0 ? fmt::format("{} {}", system.sysname, system.release) : "";
  }

  [[nodiscard]] Counters count(Command const& child, std::int64_t calls) const override {
    Ended const ended = run(child);
    if (ended.code != 0) throw Error(ended.reason());
    return read_perf(ended.out, calls);
  }
};

}  // namespace

Counters read_perf(std::string const& text, std::int64_t calls) {
  nlohmann::json const json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    throw Error(fmt::format("perf_event: the child printed `{}` in place of counters", brief(text)));
  Counters counters;
  counters.profiler = "perf_event";
  counters.calls = calls;
  counters.cycles = number(json, "cycles");
  counters.instructions = number(json, "instructions");
  counters.cache_misses = number(json, "cache_misses");
  counters.flops = number(json, "flops_counted");
  if (counters.cycles.value_or(0) <= 0 || counters.instructions.value_or(0) <= 0)
    throw Error("perf_event: no cycles or no instructions were counted in the range");
  return counters;
}

std::unique_ptr<Profiler> make_perf(Choice const& choice) {
  if (!choice.program.empty()) {
    throw Denied(fmt::format(
        "--profiler: {}: the host's counters are read without a program; allowed: with backends cuda and "
        "hip, or --simulate",
        choice.program));
  }
  HostCounters const refused_where_there_are_none;
  return std::make_unique<Perf>();
}

}  // namespace flashpad::profile
