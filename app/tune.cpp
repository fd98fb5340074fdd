// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"
#include "write_reports.hpp"

#include <flashpad/error.hpp>
#include <flashpad/tuning.hpp>

#include "experiment/case_name.hpp"
#include "kokkos_ext/arguments.hpp"
#include "measure/context.hpp"
#include "measure/inputs.hpp"
#include "measure/interrupt.hpp"
#include "report/files.hpp"
#include "report/table.hpp"
#include "tuning/jobs.hpp"
#include "tuning/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

namespace flashpad::app {

namespace fs = std::filesystem;

namespace {

struct TuneArguments {
  ExperimentArguments experiment;
  std::string json, cache;
  bool warm = false, fresh = false;
  int jobs = 1;
  std::string share;  // "i/n": this process is one of n jobs
  std::string only;   // the case that it is a job of
};

void require_tunable(Experiment const& experiment) {
  auto const refuse = [&](std::string const& why) { throw Error(experiment.file.string() + ": " + why); };
  if (!experiment.verify) refuse("verify: found false; allowed: true, as nothing unverified may win");
  for (Case const& one : experiment.cases) {
    Shape const& s = one.shape;
    if (s.batch == 0 || s.heads == 0 || s.seq_q == 0 || s.seq_k == 0)
      refuse(fmt::format(
          "problem: {} is empty, and no tile is faster there than another; allowed: lengths, batch "
          "and heads from 1",
          one.problem_key));
    if (stores_scores(one.kernel))
      refuse(fmt::format("kernels: {} has no tile to tune; allowed: auto, fused, hopper, stats",
                         name(one.kernel)));
    if (one.tile != Tile{} || one.team != 0 || one.stages != 0)
      refuse(
          "tile, team, stages: given, and nothing is left to tune; allowed: auto (lists of values go into "
          "`tune`)");
  }
}

std::string cache_file(TuneArguments const& arguments) {
  std::string const file = arguments.cache.empty() ? tuning_cache_file() : arguments.cache;
  if (file.empty())
    throw Error(
        "--cache: not given, and the tuning cache is off (FLASHPAD_TUNING_CACHE, or no home); allowed: a "
        "file");
  return file;
}

// On a terminal only: one line, with the time left as the rate so far has it.
class Progress {
 public:
  Progress() : m_on(isatty(STDERR_FILENO) == 1) {}

  void operator()(std::size_t done, std::size_t total, std::string const& label) {
    if (!m_on) return;
    auto const now = std::chrono::steady_clock::now();
    if (done < m_done || m_done == 0) m_start = now, m_first = done;
    m_done = done + 1;
    std::string left;
    if (done > m_first) {
      double const seconds = std::chrono::duration<double>(now - m_start).count();
      left = fmt::format(", {} left", report::format_seconds(seconds / static_cast<double>(done - m_first) *
                                                             static_cast<double>(total - done)));
    }
    say("\r\033[K" + fit_terminal(fmt::format("[{}/{}] {}{}", done + 1, total, label, left)));
  }
  void clear() {
    if (m_on) say("\r\033[K");
    m_done = 0;
  }

 private:
  bool m_on;
  std::size_t m_done = 0, m_first = 0;
  std::chrono::steady_clock::time_point m_start;
};

tuning::TunerSettings settings_of(Experiment const& experiment, TuneArguments const& arguments,
                                  std::string const& cache) {
  tuning::TunerSettings settings;
  settings.cache = cache;
  settings.measure.timing = experiment.timing;
  settings.measure.memory_limit = experiment.memory_limit;
  settings.measure.roofs = false;  // peaks are no part of what tuning costs
  settings.space = experiment.tune.space;
  settings.only_missing = arguments.warm;
  settings.fresh = arguments.fresh;
  return settings;
}

Case resized(Case one, std::int64_t batch, std::int64_t seq) {
  one.shape.batch = batch;
  one.shape.seq_q = one.shape.seq_k = seq;
  one.problem_key = sweep::problem_name(one);
  one.name = one.problem_key + "_" + sweep::method_name(one);
  return one;
}

tuning::Observed observe(tuning::Tuner& tuner, tuning::Search const& first, TuneObserve const& asked) {
  tuning::Observed observed;
  observed.first_call_s = first.total_s;
  observed.cost = first.result.cost;
  Case const& problem = first.problem;
  observed.steady = tuner.measure(problem, true);
  Case const longer = resized(problem, problem.shape.batch, asked.seq);
  observed.other_length = tuner.tune(longer);
  observed.other_batch = tuner.measure(resized(problem, asked.batch, problem.shape.seq_k), true);
  if (observed.other_length.outcome == tuning::Outcome::failed) return observed;
  Case foreign = longer;
  foreign.tile = first.winner.tile;
  foreign.team = first.winner.team;
  foreign.stages = first.winner.stages;
  foreign.name = longer.problem_key + "_" + sweep::method_name(foreign);
  observed.left_out = tuner.measure(foreign, false);
  observed.own = tuner.measure(longer, true);
  return observed;
}

/// The command line of this process' jobs.
std::vector<std::string> job_arguments(std::vector<std::string> const& command_line, Case const& problem) {
  std::vector<std::string> arguments = command_line;
  arguments.push_back("--only=" + problem.problem_key);
  return arguments;
}

int run_share(Experiment const& experiment, TuneArguments const& arguments, std::string const& cache) {
  tuning::Share share;
  if (std::sscanf(arguments.share.c_str(), "%zu/%zu", &share.index, &share.count) != 2 ||
      share.index >= share.count)
    throw Error(fmt::format("--share: found '{}'; allowed: i/n", arguments.share));
  tuning::Tuner tuner(settings_of(experiment, arguments, cache));
  for (Case const& one : experiment.cases) {
    if (one.problem_key == arguments.only) tuner.time_share(one, share);
  }
  measure::release_backends();
  return success;
}

int tune(TuneArguments const& arguments, Invocation const& invocation) {
  Experiment experiment = arguments.experiment.read();
  replace_reports(experiment, arguments.json, "");
  std::string const cache = cache_file(arguments);
  require_own_file(experiment, "--cache", cache);
  fs::path const& report = experiment.output.json;
  if (!report.empty() && report::target_of(report) == report::target_of(cache))
    throw Error(
        fmt::format("--json: '{}' is also the tuning cache; allowed: a file of its own", report.string()));
  resolve_backends(experiment);
  measure::require_range(experiment.cases);
  require_tunable(experiment);

  kokkos_ext::KokkosGuard const kokkos(invocation.kokkos_flags);
  measure::catch_interrupts();
  if (!arguments.share.empty()) return run_share(experiment, arguments, cache);
  for (std::string const& name : backends_of(experiment)) {
    measure::BackendInfo const info = measure::backend(name).info();
    std::string const refusal = tuning::jobs_refusal(arguments.jobs, info.concurrency, !info.device.empty());
    if (!refusal.empty()) throw Error(refusal);
  }
  report::require_writable(cache);
  if (!experiment.output.json.empty()) report::require_writable(experiment.output.json);

  Progress progress;
  tuning::TunerSettings settings = settings_of(experiment, arguments, cache);
  settings.progress = [&](std::size_t done, std::size_t total, std::string const& label) {
    progress(done, total, label);
  };
  if (arguments.jobs > 1) {
    settings.share_out = [&](Case const& problem) {
      int const failed =
          tuning::run_jobs(arguments.jobs, measure::backend(problem.backend).info().concurrency,
                           job_arguments(invocation.command_line, problem));
      measure::stop_if_interrupted();
      return failed == 0 ? std::string()
                         : fmt::format("--jobs: {} of {} did not end well; what they left is timed alone",
                                       failed, arguments.jobs);
    };
  }
  std::vector<tuning::Search> searches;
  std::optional<tuning::Observed> observed;
  bool stopped = false;
  {
    tuning::Tuner tuner(settings);
    try {
      for (Case const& one : experiment.cases) {
        searches.push_back(tuner.tune(one));
        progress.clear();
        fmt::print("{}", text_of(searches.back()));
        std::fflush(stdout);
      }
      if (experiment.tune.observe && searches.front().outcome == tuning::Outcome::tuned) {
        observed = observe(tuner, searches.front(), *experiment.tune.observe);
        progress.clear();
        fmt::print("{}{}", text_of(observed->other_length), text_of(*observed));
      }
    } catch (measure::Interrupted const&) {
      stopped = true;  // the timings so far are in the journal
    }
  }
  progress.clear();
  nlohmann::ordered_json context = measure::context(invocation.command_line, backends_of(experiment));
  context["experiment"] = experiment.name;
  context["interrupted"] = stopped;
  context["tuning_cache"] = cache;
  measure::release_backends();
  std::string const lost = lost_by([&] {
    if (!experiment.output.json.empty())
      report::write_file(experiment.output.json, tuning::json_document(context, searches, observed));
  });

  std::vector<tuning::Search const*> failures;
  for (tuning::Search const& search : searches) {
    if (search.outcome == tuning::Outcome::failed) failures.push_back(&search);
  }
  fmt::print(
      "{} of {} searches: {} well; cache {}{}\n", searches.size(), experiment.cases.size(),
      searches.size() - failures.size(), cache,
      experiment.output.json.empty() || !lost.empty() ? "" : "; wrote " + experiment.output.json.string());
  std::fflush(stdout);
  if (!lost.empty()) return report_error(failed, lost);
  if (stopped) return report_error(interrupted_exit(), "interrupted; the same command goes on from here");
  if (observed && observed->other_length.outcome == tuning::Outcome::failed)
    failures.push_back(&observed->other_length);
  if (failures.empty()) return success;
  return report_error(failed,
                      fmt::format("{}: {}", failures.front()->problem.name, failures.front()->reason));
}

}  // namespace

void add_tune(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand(
      "tune", "Search the fastest tile for every case of an experiment, and keep it in the tuning cache");
  auto const arguments = std::make_shared<TuneArguments>();
  arguments->experiment.add_to(command);
  command
      .add_option("--json", arguments->json, "Write all candidates and context here, in place of output.json")
      ->type_name("FILE")
      ->check(not_empty);
  command
      .add_option("--cache", arguments->cache,
                  "The cache, in place of FLASHPAD_TUNING_CACHE or the user's own")
      ->type_name("FILE")
      ->check(not_empty);
  command.add_flag("--warm", arguments->warm, "Search only what the cache does not have yet");
  command.add_flag("--fresh", arguments->fresh, "Do not resume an interrupted search");
  command
      .add_option("--jobs", arguments->jobs,
                  "Searches at once, on processors of their own; the finals run alone")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command.add_option("--share", arguments->share)->group("");
  command.add_option("--only", arguments->only)->group("");
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return tune(*arguments, invocation); };
  });
}

}  // namespace flashpad::app
