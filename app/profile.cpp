// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"
#include "profile_child.hpp"
#include "write_reports.hpp"

#include <flashpad/error.hpp>

#include "kokkos_ext/arguments.hpp"
#include "measure/context.hpp"
#include "measure/inputs.hpp"
#include "measure/interrupt.hpp"
#include "measure/session.hpp"
#include "profile/profiler.hpp"
#include "report/files.hpp"
#include "report/json.hpp"
#include "report/traffic_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace flashpad::app {

namespace {

struct ProfileArguments {
  ExperimentArguments experiment;
  std::string json, csv, filter;
  profile::Choice profiler;
  std::int64_t calls = 0;  ///< 0: enough of them
  ProfileChild child;
};

/// Calls in the measured range. Lines that are still dirty at its end, at most a cache of them, go uncounted:
/// the calls move 50 caches' worth, as the model has it, within 2 seconds; and last 0.2 seconds or more.
std::int64_t enough_calls(Row const& row, measure::Backend const& place, bool simulated) {
  if (simulated) return 2;
  double const seconds = std::max(row.median_s.value_or(0), 1e-6);
  double const bytes = std::max(row.bytes_model.value_or(0), 1.0);
  double const wanted = std::max(50 * place.last_level_cache() / bytes, 0.2 / seconds);
  return static_cast<std::int64_t>(std::ceil(std::clamp(wanted, 10.0, std::max(10.0, 2 / seconds))));
}

profile::Command child_command(ProfileArguments const& arguments, Invocation const& invocation,
                               Case const& one, profile::Range range, std::int64_t calls) {
  profile::Command words = {profile::own_path(), "profile", arguments.experiment.file};
  for (std::string const& change : arguments.experiment.overrides) {
    words.emplace_back("--set");
    words.push_back(change);
  }
  words.insert(words.end(), {"--child", one.name, "--calls", std::to_string(calls), "--range",
                             std::string(profile::name(range))});
  words.insert(words.end(), invocation.kokkos_flags.begin(), invocation.kokkos_flags.end());
  return words;
}

void fail(Row& row, std::string const& why) {
  row.status = Status::failed;
  add_cause(row, why);
}

void count(ProfileArguments const& arguments, Invocation const& invocation, Case const& one,
           profile::Profiler const& profiler, Row& row) {
  if (row.status != Status::ok) return;
  if (row.bytes_model.value_or(1) <= 0) {
    add_note(row, "not counted: without queries, or without keys, a call moves no byte");
    return;
  }
  std::int64_t const calls =
      arguments.calls > 0
          ? arguments.calls
          : enough_calls(row, measure::backend(one.backend), profiler.range() == profile::Range::callgrind);
  try {
    row.counters = profiler.count(child_command(arguments, invocation, one, profiler.range(), calls), calls);
  } catch (profile::Denied const&) {
    throw;
  } catch (std::exception const& error) {
    measure::stop_if_interrupted();  // the child was stopped with us: the case did not fail
    return fail(row, error.what());
  }
  if (row.counters->dram_read_bytes && row.counters->dram_write_bytes)
    row.bytes_measured = *row.counters->dram_read_bytes + *row.counters->dram_write_bytes;
}

/// What fusing saves, as the models and as the counters have it.
void compare_with_naive(std::vector<Case> const& cases, std::vector<Row>& rows) {
  auto const base_of = [&](std::size_t of) -> Row const* {
    for (Kernel const kernel : {Kernel::naive_vendor, Kernel::naive}) {
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].kernel == name(kernel) && cases[r].problem_key == cases[of].problem_key &&
            rows[r].backend == rows[of].backend)
          return &rows[r];
      }
    }
    return nullptr;
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Row& row = rows[r];
    Row const* base = row.kernel == name(Kernel::stats) ? nullptr : base_of(r);
    if (base == nullptr) continue;
    if (base->bytes_model && row.bytes_model && *row.bytes_model > 0)
      row.saved_model = *base->bytes_model / *row.bytes_model;
    if (base->bytes_measured && row.bytes_measured && *row.bytes_measured > 0)
      row.saved_measured = *base->bytes_measured / *row.bytes_measured;
  }
}

std::vector<Row> profile_all(ProfileArguments const& arguments, Invocation const& invocation,
                             Experiment const& experiment,
                             std::vector<std::unique_ptr<profile::Profiler>> const& profilers) {
  std::vector<std::string> const backends = backends_of(experiment);
  measure::Session session({experiment.verify, experiment.timing, experiment.memory_limit});
  Progress progress(experiment.cases.size());
  std::vector<Row> rows;
  try {
    for (Case const& one : experiment.cases) {
      measure::stop_if_interrupted();
      progress.next(one.name);
      Row row = session.measure(one);
      auto const backend = std::find(backends.begin(), backends.end(), one.backend) - backends.begin();
      count(arguments, invocation, one, *profilers[static_cast<std::size_t>(backend)], row);
      rows.push_back(std::move(row));
    }
  } catch (measure::Interrupted const&) {
    // The row under way is dropped; those before it are whole.
  }
  return rows;
}

std::string title_of(Experiment const& experiment, nlohmann::ordered_json const& profilers, bool simulated) {
  std::string text = experiment.name;
  for (auto const& profiler : profilers) {
    text += fmt::format(" | {}: {} {}", profiler["backend"].get<std::string>(),
                        profiler["name"].get<std::string>(), profiler["version"].get<std::string>());
  }
  text +=
      "\nbytes of a call (M: 2^20). model, tiles: estimates of memory's and of the next level's. saved: "
      "naive's over "
      "this "
      "one's, model/measured";
  return simulated ? text + "\nsimulated: a model of caches, no measurement" : text;
}

int run_profile(ProfileArguments const& arguments, Invocation const& invocation) {
  Experiment experiment = arguments.experiment.read();
  replace_reports(experiment, arguments.json, arguments.csv);
  apply_filter(experiment, arguments.filter);
  resolve_backends(experiment);
  measure::require_range(experiment.cases);
  for (auto const& file : {experiment.output.json, experiment.output.csv}) {
    if (!file.empty()) report::require_writable(file);
  }
  measure::catch_interrupts();  // before any profiler runs, whose folder would stay
  std::vector<std::unique_ptr<profile::Profiler>> profilers;
  nlohmann::ordered_json described = nlohmann::ordered_json::array();
  for (std::string const& backend : backends_of(experiment)) {
    profilers.push_back(profile::make_profiler(backend, arguments.profiler));
    described.push_back(
        {{"backend", backend}, {"name", profilers.back()->name()}, {"version", profilers.back()->version()}});
  }

  kokkos_ext::KokkosGuard const kokkos(invocation.kokkos_flags);
  std::vector<Row> rows = profile_all(arguments, invocation, experiment, profilers);
  bool const stopped = measure::interrupted();
  measure::join(experiment.cases, rows);
  compare_with_naive(experiment.cases, rows);

  nlohmann::ordered_json context = measure::context(invocation.command_line, backends_of(experiment));
  context["experiment"] = experiment.name;
  context["interrupted"] = stopped;
  context["profilers"] = described;
  measure::release_backends();
  std::string const lost = write_reports(experiment.output, context, rows);
  fmt::print("{}", report::traffic_table(title_of(experiment, described, arguments.profiler.simulate), rows));
  std::fflush(stdout);
  if (!lost.empty()) return report_error(failed, lost);
  if (stopped) {
    return report_error(interrupted_exit(), fmt::format("interrupted after {} of {} cases", rows.size(),
                                                        experiment.cases.size()));
  }
  bool const all_well = std::all_of(rows.begin(), rows.end(), [](Row const& row) {
    return row.status == Status::ok || row.status == Status::oom;
  });
  if (!all_well) return failed;
  if (std::any_of(rows.begin(), rows.end(), [](Row const& row) { return row.counters.has_value(); }))
    return success;
  return report_error(
      failed,
      fmt::format("nothing was counted: none of {} cases fits in memory and moves a byte", rows.size()));
}

std::string known_replay(std::string const& mode) {
  for (char const* allowed : {"app-range", "range", "application", "kernel"}) {
    if (mode == allowed) return "";
  }
  return fmt::format("`{}`; allowed: app-range, range, application, kernel", mode);
}

}  // namespace

void add_profile(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand(
      "profile", "Count the traffic of every case: ncu, rocprofv3, or the processor's counters");
  auto const arguments = std::make_shared<ProfileArguments>();
  command.footer(
      "Counted by backend: cuda, with ncu: memory read and written, second-level cache, occupancy, spills. "
      "hip, "
      "with rocprofv3: the same, spills as scratch a lane. Others, with the kernel's perf_event: cycles, "
      "instructions, cache misses, FLOPs where the processor counts them; no bytes. Those with --simulate: "
      "lines in and out of a simulated cache, which is a model.");
  arguments->experiment.add_to(command);
  command.add_option("--json", arguments->json, "Write rows and context here, in place of output.json")
      ->type_name("FILE")
      ->check(not_empty);
  command.add_option("--csv", arguments->csv, "Write rows here, in place of output.csv")
      ->type_name("FILE")
      ->check(not_empty);
  command.add_option("--filter", arguments->filter, "Profile only the cases whose name contains this")
      ->type_name("TEXT")
      ->check(not_empty);
  command
      .add_option("--profiler", arguments->profiler.program,
                  "Name or path of ncu, rocprofv3 or valgrind, in place of the one in PATH")
      ->type_name("PROGRAM")
      ->check(not_empty);
  command
      .add_option("--calls", arguments->calls,
                  "Calls in the measured range; without it, until what caches hide is small")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command
      .add_option(
          "--replay-mode", arguments->profiler.replay,
          "ncu's: app-range (default; kernels follow each other as in use), range, application, kernel")
      ->type_name("MODE")
      ->check(known_replay);
  command.add_flag("--simulate", arguments->profiler.simulate,
                   "On the host: callgrind's model of the caches, labelled as such, in place of counters");
  add_profile_child(command, arguments->child);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] {
      if (arguments->child.name.empty()) return run_profile(*arguments, invocation);
      return profile_child(arguments->experiment, arguments->child, arguments->calls, invocation);
    };
  });
}

}  // namespace flashpad::app
