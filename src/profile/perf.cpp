// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/host_counters.hpp"
#include "profile/profiler.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <sys/utsname.h>

namespace flashpad::profile {

namespace {

std::optional<double> number(nlohmann::json const& json, char const* key) {
  return json.contains(key) && json[key].is_number() ? std::optional(json[key].get<double>()) : std::nullopt;
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
    nlohmann::json const json = nlohmann::json::parse(ended.out, nullptr, false);
    if (!json.is_object())
      throw Error(fmt::format("profile: the child printed `{}` in place of counters", ended.out));
    Counters counters;
    counters.profiler = name();
    counters.calls = calls;
    counters.cycles = number(json, "cycles");
    counters.instructions = number(json, "instructions");
    counters.cache_misses = number(json, "cache_misses");
    counters.flops = number(json, "flops_counted");
    return counters;
  }
};

}  // namespace

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
