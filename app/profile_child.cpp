// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile_child.hpp"

#include <flashpad/error.hpp>

#include "kokkos_ext/arguments.hpp"
#include "measure/session.hpp"
#include "profile/callgrind.hpp"
#include "profile/host_counters.hpp"
#include "profile/profiler.hpp"
#include "report/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace flashpad::app {

namespace {

/// Where the range begins and ends.
class RangeMarks {
 public:
  explicit RangeMarks(std::string const& how) : m_how(how) {
    if (how == profile::name(profile::Range::perf)) m_counters.emplace();
  }

  void warm_up() {
    if (simulated()) profile::callgrind_warm_up();
  }
  void begin(measure::Backend& place) {
    if (simulated()) return profile::callgrind_begin();
    if (m_counters) return m_counters->start();
    place.mark_range(true);
  }
  void end(measure::Backend& place) {
    if (simulated()) return profile::callgrind_end();
    if (m_counters) return m_counters->stop();
    place.mark_range(false);
  }

  [[nodiscard]] bool simulated() const { return m_how == profile::name(profile::Range::callgrind); }
  [[nodiscard]] std::optional<profile::HostCounters> const& counters() const { return m_counters; }

 private:
  std::string m_how;
  std::optional<profile::HostCounters> m_counters;
};

/// In the order of time: every copy of the inputs has been used once before the range, so that what the
/// caches hold at its beginning is what they hold at its end. Under a simulator the copies were never seen.
void run_range(measure::Prepared& prepared, std::int64_t warmup, std::int64_t calls, RangeMarks& marks) {
  measure::Runner& runner = *prepared.runner;
  measure::Backend& place = *prepared.backend;
  std::int64_t turn = 0;
  marks.warm_up();
  std::int64_t const before = marks.simulated() ? warmup : std::max(warmup, prepared.copies);
  for (std::int64_t i = 0; i < before; ++i) runner.call(turn++ % prepared.copies, false);
  runner.fence();
  marks.begin(place);
  for (std::int64_t i = 0; i < calls; ++i) runner.call(turn++ % prepared.copies, false);
  runner.fence();
  marks.end(place);
}

Case case_of(Experiment const& experiment, std::string const& name) {
  auto const found = std::find_if(experiment.cases.begin(), experiment.cases.end(),
                                  [&](Case const& one) { return one.name == name; });
  if (found == experiment.cases.end())
    throw Error(fmt::format("--child: `{}` is no case of {}", name, experiment.name));
  return *found;
}

}  // namespace

void add_profile_child(CLI::App& command, ProfileChild& child) {
  command.add_option("--child", child.name)->group("");
  command.add_option("--range", child.range)->group("");
}

int profile_child(ExperimentArguments const& arguments, ProfileChild const& child, std::int64_t calls,
                  Invocation const& invocation) {
  Experiment experiment = arguments.read();
  resolve_backends(experiment);
  Case const one = case_of(experiment, child.name);
  RangeMarks marks(child.range);  // before there are threads, so that they are counted too
  kokkos_ext::KokkosGuard const kokkos(invocation.kokkos_flags);
  {
    measure::Session session({false, experiment.timing, experiment.memory_limit});
    Row row;
    std::unique_ptr<measure::Prepared> const prepared = session.prepare(one, row);
    if (!prepared) throw Error(fmt::format("{}: {}", name(row.status), row.reason));
    run_range(*prepared, experiment.timing.warmup, calls, marks);
  }
  measure::release_backends();
  if (marks.counters()) {
    Row row;
    row.counters = marks.counters()->read(calls);
    fmt::print("{}\n", report::to_json(row).dump());
  }
  return success;
}

}  // namespace flashpad::app
