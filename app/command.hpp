// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::app {

/// Exit codes of every subcommand.
enum Exit : int {
  success = 0,  ///< every row is ok, or ran out of memory as foreseen
  failed = 1,   ///< a row failed, a speedup was missed, nothing was measured, or output was lost
  usage = 2     ///< the command line or an input is at fault; nothing was done
};

/// Writes to standard error. Where that is closed or full, there is nowhere left to say so, and the exit code
/// stays what it would have been: unlike fmt::print, this throws nothing.
void say(std::string const& text);

/// Says in one line what went wrong, after all that standard output was given. Returns `code`.
int report_error(int code, std::string_view message);

/// After Ctrl-C (130), SIGTERM (143) or a hang-up (129), as a shell has it; rows measured until then are
/// kept.
int interrupted_exit();

/// One call of the program, flags of the libraries taken apart.
struct Invocation {
  std::vector<std::string> command_line;
  std::vector<std::string> kokkos_flags;
  std::vector<std::string> benchmark_flags;
  std::function<int()> action;  ///< set by the subcommand that was named
};

// One file each: adds the subcommand and its options, and sets `action` when it is the one named.
void add_run(CLI::App& app, Invocation& invocation);
void add_bench(CLI::App& app, Invocation& invocation);
void add_info(CLI::App& app, Invocation& invocation);
void add_check(CLI::App& app, Invocation& invocation);
void add_compare(CLI::App& app, Invocation& invocation);
void add_explain(CLI::App& app, Invocation& invocation);
void add_profile(CLI::App& app, Invocation& invocation);
void add_tune(CLI::App& app, Invocation& invocation);
void add_report(CLI::App& app, Invocation& invocation);

/// What run, bench and check have in common: an experiment file and changes to it.
struct ExperimentArguments {
  std::string file;
  std::vector<std::string> overrides;

  void add_to(CLI::App& command);
  [[nodiscard]] Experiment read() const;
};

/// Puts the name of the backend that will run it into every case. Throws Error, naming the available ones,
/// before anything is measured.
void resolve_backends(Experiment& experiment);

/// Names of the backends of all cases, each once.
std::vector<std::string> backends_of(Experiment const& experiment);

/// A check of CLI11's for options that want some text.
std::string not_empty(std::string const& text);

/// Keeps the cases whose name contains `filter`. Throws Error where none does; an empty filter keeps all.
void apply_filter(Experiment& experiment, std::string const& filter);

/// Cut to the width of the terminal that standard error is, for a line that is to be overwritten must not
/// wrap.
std::string fit_terminal(std::string line);

/// What case is under way: on a terminal only, on one line that each case overwrites.
class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;

  void next(std::string const& name);

 private:
  std::size_t m_total;
  std::size_t m_count = 0;
  bool m_on;
};

/// One line a case.
std::string list_cases(Experiment const& experiment);

}  // namespace flashpad::app
