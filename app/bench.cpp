// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"

#include <flashpad/error.hpp>

#include "kokkos_ext/arguments.hpp"
#include "measure/context.hpp"
#include "measure/inputs.hpp"
#include "measure/interrupt.hpp"
#include "measure/session.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <string_view>

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

void initialize_benchmark(Invocation const& invocation) {
  // Google Benchmark keeps argv[0], as main's lives as long as the program.
  static std::vector<std::string> words;
  words = {invocation.command_line.front()};
  words.insert(words.end(), invocation.benchmark_flags.begin(), invocation.benchmark_flags.end());
  static std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1)
    throw Error(fmt::format("{}: Google Benchmark has no such flag; see its --benchmark_... flags", argv[1]));
}

void require_own_outputs(Invocation const& invocation, Experiment const& experiment) {
  constexpr std::string_view option = "--benchmark_out=";
  for (std::string const& flag : invocation.benchmark_flags) {
    if (flag.starts_with(option) && flag.size() > option.size())
      require_own_file(experiment, "--benchmark_out", flag.substr(option.size()));
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
  require_own_outputs(invocation, experiment);
  initialize_benchmark(invocation);

  kokkos_ext::KokkosGuard const kokkos(invocation.kokkos_flags);
  measure::catch_interrupts();
  std::size_t matched = 0;
  bool any_failed = false;
  {
    Bench current(experiment);
    for (Case const& one : experiment.cases) {
      benchmark::RegisterBenchmark(one.name.c_str(),
                                   [&current, &one](benchmark::State& state) { current.run(one, state); })
          ->UseManualTime()
          ->Unit(benchmark::kSecond);
    }
    add_context(invocation, experiment);
    matched = benchmark::RunSpecifiedBenchmarks();
    any_failed = current.failed();
    benchmark::Shutdown();
  }
  measure::release_backends();
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
