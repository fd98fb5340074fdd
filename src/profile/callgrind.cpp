// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/callgrind.hpp"

#include "profile/profiler.hpp"

#include <fmt/format.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define FLASHPAD_CALLGRIND(request) request
#else
#define FLASHPAD_CALLGRIND(request) static_cast<void>(0)
#endif

#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

namespace flashpad::profile {

namespace {

// "events: Ir Dr ..." and "totals: 1 2 ...": one number an event.
std::map<std::string, double> totals_of(std::string const& text) {
  std::string names;
  std::string numbers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("events:")) names = line.substr(7);
    if (line.starts_with("totals:")) numbers = line.substr(7);
  }
  std::map<std::string, double> totals;
  std::istringstream values(numbers);
  std::istringstream events(names);
  double value = 0;
  for (std::string event; events >> event;) {
    // Trailing zeros are left out.
    totals[event] = values >> value ? value : 0;
  }
  return numbers.empty() ? std::map<std::string, double>() : totals;
}

// "desc: LL cache: 33554432 B, 64 B, 16-way associative"
double line_bytes(std::string const& text) {
  std::size_t const at = text.find("desc: LL cache: ");
  if (at == std::string::npos) return 0;
  double size = 0;
  double line = 0;
  std::string unit;
  std::istringstream words(text.substr(at + 16, text.find('\n', at) - at - 16));
  words >> size >> unit >> line;
  return line;
}

class Callgrind final : public Profiler {
 public:
  explicit Callgrind(std::string program) : m_program(std::move(program)) {}

  [[nodiscard]] std::string name() const override { return "callgrind"; }
  [[nodiscard]] Range range() const override { return Range::callgrind; }

  [[nodiscard]] std::string version() const override {
    std::string const text = run({m_program, "--version"}).out;
    return text.substr(0, text.find('\n'));
  }

  [[nodiscard]] Counters count(Command const& child, std::int64_t calls) const override {
    TemporaryFolder const folder;
    std::filesystem::path const out = folder.path() / "callgrind.out";
    Command command = {m_program,
                       "--tool=callgrind",
                       "--cache-sim=yes",
                       "--simulate-wb=yes",
                       "--instr-atstart=no",
                       "--fair-sched=yes",
                       "--callgrind-out-file=" + out.string()};
    command.insert(command.end(), child.begin(), child.end());
    // Threads that spin while they wait would take turns with the one that works.
    Ended const ended = run(command, {{"OMP_WAIT_POLICY", "passive"}, {"GOMP_SPINCOUNT", "0"}});
    if (ended.code != 0) throw Error(fmt::format("callgrind: {}", ended.reason()));
    return read_callgrind(text_of(out), calls);
  }

 private:
  std::string m_program;
};

}  // namespace

Counters read_callgrind(std::string const& text, std::int64_t calls) {
  std::map<std::string, double> const totals = totals_of(text);
  double const line = line_bytes(text);
  double lines = 0;
  for (char const* event : {"ILmr", "DLmr", "DLmw", "ILdmr", "DLdmr", "DLdmw"}) {
    auto const found = totals.find(event);
    if (found == totals.end() || line <= 0)
      throw Error(fmt::format("callgrind: its output lacks {}", line <= 0 ? "the size of a line" : event));
    lines += found->second;
  }
  Counters counters;
  counters.profiler = "callgrind";
  counters.calls = calls;
  counters.simulated_bytes = lines * line / static_cast<double>(calls);
  return counters;
}

bool callgrind_is_built_in() {
#ifdef CALLGRIND_START_INSTRUMENTATION
  return true;
#else
  return false;
#endif
}

void callgrind_warm_up() { FLASHPAD_CALLGRIND(CALLGRIND_START_INSTRUMENTATION); }
void callgrind_begin() { FLASHPAD_CALLGRIND(CALLGRIND_ZERO_STATS); }
void callgrind_end() { FLASHPAD_CALLGRIND(CALLGRIND_STOP_INSTRUMENTATION); }

std::unique_ptr<Profiler> make_callgrind(Choice const& choice) {
  if (!callgrind_is_built_in()) {
    throw Denied(
        "--simulate: this build lacks valgrind's header; allowed: install valgrind (Debian: package "
        "valgrind), and build again");
  }
  std::string const wanted = choice.program.empty() ? "valgrind" : choice.program;
  std::string const program = find_program(wanted);
  if (program.empty()) {
    throw Denied(
        fmt::format("--simulate: {} is not to be found in PATH; allowed: valgrind, by name or path", wanted));
  }
  return std::make_unique<Callgrind>(program);
}

}  // namespace flashpad::profile
