// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench_flags.hpp"
#include "command.hpp"
#include "write_reports.hpp"

#include <flashpad/error.hpp>

#include "kokkos_ext/arguments.hpp"
#include "measure/context.hpp"
#include "measure/inputs.hpp"
#include "measure/interrupt.hpp"
#include "measure/session.hpp"
#include "report/files.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace flashpad::app {

namespace {

/// The case under way. Google Benchmark calls a benchmark's function several times, with more and more
/// iterations; setting up and verifying happens in the first of them.
class Bench {
 public:
  explicit Bench(Experiment const& experiment)
      : m_session({experiment.verify, experiment.timing, experiment.memory_limit}),
        m_warmup(experiment.timing.warmup) {}

  void run(Case const& one, benchmark::State& state) {
    if (measure::interrupted()) return state.SkipWithError("interrupted");
    try {
      set_up(one);
    } catch (measure::Interrupted const&) {
      m_name.clear();
      return state.SkipWithError("interrupted");
    } catch (std::exception const& error) {  // of a warm-up
      m_prepared.reset();
      m_row.status = Status::failed;
      add_cause(m_row, error.what());
    }
    if (!m_prepared) {
      if (m_row.status == Status::failed) m_failed = true;
      return state.SkipWithError(fmt::format("{}: {}", name(m_row.status), m_row.reason).c_str());
    }
    measure::Runner& runner = *m_prepared->runner;
    for (auto _ : state) {
      if (measure::interrupted()) {
        state.SkipWithError("interrupted");
        break;
      }
      try {
        state.SetIterationTime(runner.timed_call(m_turn++ % m_prepared->copies));
      } catch (std::exception const& error) {
        m_failed = true;
        state.SkipWithError(error.what());
        break;
      }
    }
    if (!m_row.reason.empty()) state.SetLabel(m_row.reason);  // conversions, a warm cache, NaN
    using benchmark::Counter;
    state.counters["FLOP/s"] = Counter(*m_row.flops, Counter::kIsIterationInvariantRate);
    state.counters["model_bytes/s"] = Counter(*m_row.bytes_model, Counter::kIsIterationInvariantRate);
    state.counters["N"] = static_cast<double>(one.shape.seq_k);
  }

  [[nodiscard]] bool failed() const { return m_failed; }

 private:
  void set_up(Case const& one) {
    if (m_name == one.name) return;
    m_name = one.name;
    m_prepared.reset();
    m_prepared = m_session.prepare(one, m_row);
    if (!m_prepared) return;
    measure::rate(one, m_prepared->runner->choice(), m_row);
    for (int i = 0; i < m_warmup; ++i) {
      m_prepared->runner->call(m_turn++ % m_prepared->copies, false);
      m_prepared->runner->fence();
    }
  }

  measure::Session m_session;
  int m_warmup;
  std::string m_name;
  Row m_row;
  std::unique_ptr<measure::Prepared> m_prepared;
  std::int64_t m_turn = 0;
  bool m_failed = false;
};

/// Google Benchmark writes its file in place and does not look whether it could. What it would write comes
/// here instead, and from here to the file as every report does.
class OutFile {
 public:
  OutFile(std::vector<std::string> const& flags, Experiment const& experiment)
      : m_file(benchmark_value(flags, "out")) {
    if (m_file.empty()) return;
    require_own_file(experiment, "--benchmark_out", m_file.string());
    try {
      report::require_writable(m_file);
    } catch (Error const& refused) {
      throw Error(fmt::format("--benchmark_out: {}", refused.what()));
    }
    std::string const format = benchmark_value(flags, "out_format");
    if (format == "console") {
      m_reporter =
          std::make_unique<Kept<benchmark::ConsoleReporter>>(m_text, benchmark::ConsoleReporter::OO_None);
    } else if (format == "csv") {
      m_reporter = csv_reporter();
    } else {
      m_reporter = std::make_unique<Kept<benchmark::JSONReporter>>(m_text);
    }
  }

  /// Null where there is no file.
  [[nodiscard]] benchmark::BenchmarkReporter* reporter() const { return m_reporter.get(); }

  /// What was lost, in words, where something was.
  [[nodiscard]] std::string write() const {
    std::string const text = m_text.str();
    if (text.empty()) return "";  // benchmarks were listed, or there is no file
    return lost_by([&] { report::write_file(m_file, text); });
  }

 private:
  /// The library gives a reporter its own stream, which is put aside here.
  template <class Reporter>
  class Kept final : public Reporter {
   public:
    template <class... Arguments>
    explicit Kept(std::ostream& text, Arguments... arguments) : Reporter(arguments...), m_text(text) {}
    bool ReportContext(typename Reporter::Context const& context) override {
      this->SetOutputStream(&m_text);
      return Reporter::ReportContext(context);
    }

   private:
    std::ostream& m_text;
  };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // "will be removed": until then, it is a format
  std::unique_ptr<benchmark::BenchmarkReporter> csv_reporter() {
    return std::make_unique<Kept<benchmark::CSVReporter>>(m_text);
  }
#pragma GCC diagnostic pop

  std::filesystem::path m_file;
  std::ostringstream m_text;
  std::unique_ptr<benchmark::BenchmarkReporter> m_reporter;
};

void initialize_benchmark(std::string const& program, std::vector<std::string> const& flags) {
  // Google Benchmark keeps argv[0], as main's lives as long as the program.
  static std::vector<std::string> words;
  words = {program};
  words.insert(words.end(), flags.begin(), flags.end());
  // A file reporter needs a file's name, of one that the library may open and write nothing to.
  if (!benchmark_value(flags, "out").empty()) words.emplace_back("--benchmark_out=/dev/null");
  static std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  std::ostringstream said;  // about the flag that is left over then, which is named below
  std::streambuf* const before = std::cerr.rdbuf(said.rdbuf());
  benchmark::Initialize(&argc, argv.data());
  std::cerr.rdbuf(before);
  if (argc > 1) {
    throw Error(
        fmt::format("{}: Google Benchmark has no such flag, or not with this value; see its "
                    "--benchmark_... flags",
                    argv[1]));
  }
}

void add_context(Invocation const& invocation, Experiment const& experiment) {
  nlohmann::ordered_json const context = measure::context(invocation.command_line, backends_of(experiment));
  for (auto it = context.begin(); it != context.end(); ++it) {
    if (it.key() == "date") continue;  // Google Benchmark writes its own
    benchmark::AddCustomContext(it.key(), it->is_string() ? it->get<std::string>() : it->dump());
  }
  benchmark::AddCustomContext("experiment", experiment.name);
}

int bench(ExperimentArguments const& arguments, Invocation const& invocation) {
  Experiment experiment = arguments.read();
  resolve_backends(experiment);
  measure::require_range(experiment.cases);
  std::vector<std::string> const flags = checked_benchmark_flags(invocation.benchmark_flags);
  require_match(flags, experiment);
  OutFile const out(flags, experiment);
  initialize_benchmark(invocation.command_line.front(), flags);

  kokkos_ext::KokkosGuard const kokkos(invocation.kokkos_flags);
  measure::catch_interrupts();
  std::size_t matched = 0;
  bool any_failed = false;
  std::string lost;
  {
    Bench current(experiment);
    for (Case const& one : experiment.cases) {
      benchmark::RegisterBenchmark(one.name.c_str(),
                                   [&current, &one](benchmark::State& state) { current.run(one, state); })
          ->UseManualTime()
          ->Unit(benchmark::kSecond);
    }
    add_context(invocation, experiment);
    matched = benchmark::RunSpecifiedBenchmarks(nullptr, out.reporter());
    any_failed = current.failed();
    lost = out.write();
    benchmark::Shutdown();
  }
  measure::release_backends();
  if (!lost.empty()) return report_error(failed, lost);
  if (measure::interrupted()) throw measure::Interrupted{};
  if (matched == 0) {
    throw Error(fmt::format("--benchmark_filter: matches none of the {} cases of {}", experiment.cases.size(),
                            experiment.name));
  }
  return any_failed ? failed : success;
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      *app.add_subcommand("bench", "Time an experiment with Google Benchmark, one benchmark a case");
  auto const arguments = std::make_shared<ExperimentArguments>();
  arguments->add_to(command);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return bench(*arguments, invocation); };
  });
}

}  // namespace flashpad::app
