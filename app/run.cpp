// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"
#include "write_reports.hpp"

#include <flashpad/error.hpp>

#include "kokkos_ext/arguments.hpp"
#include "measure/context.hpp"
#include "measure/inputs.hpp"
#include "measure/interrupt.hpp"
#include "measure/machine.hpp"
#include "measure/session.hpp"
#include "measure/tensor_output.hpp"
#include "report/files.hpp"
#include "report/json.hpp"
#include "report/sweep.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

namespace flashpad::app {

namespace {

struct RunArguments {
  ExperimentArguments experiment;
  std::string json, csv, filter;
  bool dry_run = false;
};

// An expectation that no pair of rows can meet or miss would pass unseen.
void require_pairs(Experiment const& experiment) {
  if (!experiment.expected_speedup) return;
  std::set<std::string> naive;
  for (Case const& one : experiment.cases) {
    if (one.kernel == Kernel::naive) naive.insert(one.problem_key + '\n' + one.backend);
  }
  for (Case const& one : experiment.cases) {
    bool const may_be_fused = one.kernel == Kernel::fused || one.kernel == Kernel::automatic;
    if (may_be_fused && naive.contains(one.problem_key + '\n' + one.backend)) return;
  }
  throw Error(
      fmt::format("{}: expected_speedup: no problem is left with both kernels; allowed: with naive and fused "
                  "in kernels, and a --filter that keeps both",
                  experiment.file.string()));
}

void require_writable_outputs(Experiment const& experiment) {
  for (auto const& file : {experiment.output.json, experiment.output.csv}) {
    if (!file.empty()) report::require_writable(file);
  }
  for (Case const& one : experiment.cases) {
    for (auto const& file : {experiment.output.o, experiment.output.lse}) {
      if (!file.empty()) report::require_writable(measure::tensor_path(file, one));
    }
  }
}

void write_tensors(Experiment const& experiment, Case const& one, measure::Session const& session, Row& row) {
  Output const& output = experiment.output;
  if (!session.outputs() || (output.o.empty() && output.lse.empty())) return;
  try {
    measure::write_tensors(output, one, *session.outputs());
  } catch (std::exception const& error) {
    row.status = Status::failed;
    add_cause(row, error.what());
  }
}

// Measures until the end, Ctrl-C or SIGTERM.
std::vector<Row> measure_all(Experiment const& experiment) {
  measure::Session session({experiment.verify, experiment.timing, experiment.memory_limit});
  Progress progress(experiment.cases.size());
  std::vector<Row> rows;
  try {
    for (Case const& one : experiment.cases) {
      measure::stop_if_interrupted();
      progress.next(one.name);
      rows.push_back(session.measure(one));
      write_tensors(experiment, one, session, rows.back());
    }
  } catch (measure::Interrupted const&) {
    // The row under way is dropped; those before it are whole.
  }
  return rows;
}

std::string title_of(Experiment const& experiment) {
  std::string text = experiment.name;
  for (std::string const& name : backends_of(experiment)) {
    measure::KnownPeaks const peaks = measure::backend(name).known_peaks();
    int const threads = measure::backend(name).info().concurrency;
    text += fmt::format(" | {}, {} thread{}", name, threads, threads == 1 ? "" : "s");
    if (peaks.flops_fp32 > 0) text += fmt::format(", fp32 {:.3g} TFLOP/s", peaks.flops_fp32 / 1e12);
    if (peaks.flops_fp64 > 0) text += fmt::format(", fp64 {:.3g} TFLOP/s", peaks.flops_fp64 / 1e12);
    if (peaks.flops_bf16 > 0) text += fmt::format(", bf16 {:.3g} TFLOP/s", peaks.flops_bf16 / 1e12);
    if (peaks.flops_matrix > 0)
      text += fmt::format(", 16-bit matrices {:.3g} TFLOP/s", peaks.flops_matrix / 1e12);
    if (peaks.bandwidth() > 0) text += fmt::format(", {:.3g} GB/s", peaks.bandwidth() / 1e9);
  }
  return text +
         "\nerror: max |O - reference|, within bound; bytes: naive's modelled traffic / this one's "
         "(estimate); "
         "speedup: over naive";
}

// What the scores of one head are held against: this machine's, and what the experiment states.
std::vector<report::Limit> limits_of(Experiment const& experiment) {
  measure::Backend& place = measure::backend(experiment.cases.front().backend);
  std::vector<report::Limit> limits = {{"last-level cache", place.last_level_cache()}};
  if (experiment.memory_limit) limits.push_back({"memory_limit", *experiment.memory_limit});
  limits.push_back({"free memory", place.device_memory_free().value_or(measure::host_memory_free())});
  return limits;
}

std::string summary_of(std::vector<Row> const& rows, Experiment const& experiment, bool written) {
  std::vector<std::string> parts;
  for (Status const status : {Status::ok, Status::failed, Status::oom, Status::skipped}) {
    auto const count =
        std::count_if(rows.begin(), rows.end(), [&](Row const& row) { return row.status == status; });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, name(status)));
  }
  std::string text = fmt::format("{} of {} cases: {}", rows.size(), experiment.cases.size(),
                                 parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", ")));
  for (auto const& file : {experiment.output.json, experiment.output.csv}) {
    if (written && !rows.empty() && !file.empty()) text += fmt::format("; wrote {}", file.string());
  }
  return text + '\n';
}

int run(RunArguments const& arguments, Invocation const& invocation) {
  Experiment experiment = arguments.experiment.read();
  replace_reports(experiment, arguments.json, arguments.csv);
  apply_filter(experiment, arguments.filter);
  resolve_backends(experiment);
  measure::require_range(experiment.cases);
  require_pairs(experiment);
  if (arguments.dry_run) {
    fmt::print("{}{} cases; nothing was run\n", list_cases(experiment), experiment.cases.size());
    return success;
  }
  require_writable_outputs(experiment);

  kokkos_ext::KokkosGuard const kokkos(invocation.kokkos_flags);
  measure::catch_interrupts();
  std::vector<Row> rows = measure_all(experiment);
  bool const stopped = measure::interrupted();
  measure::join(experiment.cases, rows);
  if (experiment.expected_speedup)
    measure::check_speedups(experiment.cases, *experiment.expected_speedup, rows);

  nlohmann::ordered_json context = measure::context(invocation.command_line, backends_of(experiment));
  context["experiment"] = experiment.name;
  context["interrupted"] = stopped;
  context["crossovers"] = nlohmann::ordered_json::array();
  for (report::Crossover const& one : report::crossovers(rows)) context["crossovers"].push_back(to_json(one));
  std::string const title = title_of(experiment);
  std::string const sweep = report::sweep_text(rows, limits_of(experiment));
  measure::release_backends();
  std::string const lost = write_reports(experiment.output, context, rows);
  fmt::print("{}{}{}", report::table(title, rows), sweep, summary_of(rows, experiment, lost.empty()));
  std::fflush(stdout);
  if (!lost.empty()) return report_error(failed, lost);

  if (stopped) {
    return report_error(interrupted_exit(), fmt::format("interrupted after {} of {} cases", rows.size(),
                                                        experiment.cases.size()));
  }
  bool const all_well = std::all_of(rows.begin(), rows.end(), [](Row const& row) {
    return row.status == Status::ok || row.status == Status::oom;
  });
  return all_well && !rows.empty() ? success : failed;
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand("run", "Run an experiment: verify, time and count every case");
  auto const arguments = std::make_shared<RunArguments>();
  arguments->experiment.add_to(command);
  command.add_option("--json", arguments->json, "Write rows and context here, in place of output.json")
      ->type_name("FILE")
      ->check(not_empty);
  command.add_option("--csv", arguments->csv, "Write rows here, in place of output.csv")
      ->type_name("FILE")
      ->check(not_empty);
  command.add_option("--filter", arguments->filter, "Run only the cases whose name contains this")
      ->type_name("TEXT")
      ->check(not_empty);
  command.add_flag("--dry-run", arguments->dry_run, "Print the cases and run nothing");
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return run(*arguments, invocation); };
  });
}

}  // namespace flashpad::app
