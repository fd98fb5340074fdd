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

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace flashpad::profile {

namespace {

std::vector<std::string> words_of(std::string const& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

std::uint64_t whole_number(std::string const& word, std::string const& line) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw Error(fmt::format("callgrind: `{}` in its output's line `{}` is no whole number of 0 or more",
                            brief(word, 40), brief(line, 120)));
  }
  return number;
}

/// What is read of an output file.
struct Profile {
  std::vector<std::string> events;    ///< "events: Ir Dr ..."
  std::vector<std::uint64_t> totals;  ///< "totals: 1 2 ...", one number an event
  std::vector<std::uint64_t> sums;    ///< of the lines of costs
  std::size_t positions = 1;          ///< words before the costs of a line
  std::uint64_t cache_bytes = 0;      ///< "desc: LL cache: 33554432 B, 64 B, 16-way ..."
  std::uint64_t line_bytes = 0;
};

// Trailing zeros are left out of a line.
std::vector<std::uint64_t> costs_of(std::string const& line, std::size_t from, std::size_t events) {
  std::vector<std::string> const words = words_of(line);
  if (words.size() < from || words.size() > from + events) {
    throw Error(fmt::format("callgrind: its output's line `{}` has no number for each of {} events",
                            brief(line, 120), events));
  }
  std::vector<std::uint64_t> costs(events, 0);
  for (std::size_t i = from; i < words.size(); ++i) costs[i - from] = whole_number(words[i], line);
  return costs;
}

void read_cache(std::string const& line, Profile& profile) {
  std::vector<std::string> const words = words_of(line);
  if (words.size() < 7 || words[4] != "B," || words[6] != "B,")
    throw Error(fmt::format("callgrind: `{}` says no sizes in bytes of a cache", brief(line, 120)));
  profile.cache_bytes = whole_number(words[3], line);
  profile.line_bytes = whole_number(words[5], line);
}

Profile read_lines(std::string const& text) {
  Profile profile;
  bool inclusive = false;  // what follows "calls=" is the callee's cost, which its own lines have too
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    bool const of_call = std::exchange(inclusive, line.starts_with("calls="));
    if (line.starts_with("desc: LL cache: ")) read_cache(line, profile);
    if (line.starts_with("positions:")) profile.positions = words_of(line).size() - 1;
    if (line.starts_with("events:")) {
      profile.events = words_of(line.substr(7));
      profile.sums.assign(profile.events.size(), 0);
    }
    if (line.starts_with("totals:")) profile.totals = costs_of(line, 1, profile.events.size());
    if (of_call || line.find_first_of("0123456789+-*") != 0) continue;
    std::vector<std::uint64_t> const costs = costs_of(line, profile.positions, profile.events.size());
    for (std::size_t i = 0; i < costs.size(); ++i) profile.sums[i] += costs[i];
  }
  return profile;
}

class Callgrind final : public Profiler {
 public:
  explicit Callgrind(std::string program) : m_program(std::move(program)) {}

  [[nodiscard]] std::string name() const override { return "callgrind"; }
  [[nodiscard]] Range range() const override { return Range::callgrind; }

  [[nodiscard]] std::string version() const override {
    std::string const text = version_text(m_program);
    return brief(text.substr(0, text.find('\n')));
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
  Profile const profile = read_lines(text);
  auto const total_of = [&](char const* event) {
    auto const found = std::find(profile.events.begin(), profile.events.end(), event);
    if (found == profile.events.end()) throw Error(fmt::format("callgrind: its output lacks {}", event));
    return static_cast<double>(profile.totals[static_cast<std::size_t>(found - profile.events.begin())]);
  };
  if (profile.line_bytes == 0) throw Error("callgrind: its output lacks the size of a line");
  if (profile.line_bytes > profile.cache_bytes) {
    throw Error(fmt::format("callgrind: its cache of {} bytes has lines of {}", profile.cache_bytes,
                            profile.line_bytes));
  }
  if (profile.totals.empty() || profile.totals.size() != profile.events.size())
    throw Error("callgrind: its output lacks totals");
  if (total_of("Ir") <= 0) throw Error("callgrind: it counted no instruction in the range");
  // Fewer numbers than events may be zeros left out, or a file cut short. The format has totals for this
  // check: they are the last line, and the sum of all lines of costs (not of `summary`, which is wrong once
  // counting began in the middle).
  if (profile.totals != profile.sums)
    throw Error("callgrind: its output is not whole: the totals are not the sum of its lines");
  double lines = 0;
  for (char const* event : {"ILmr", "DLmr", "DLmw", "ILdmr", "DLdmr", "DLdmw"}) lines += total_of(event);
  Counters counters;
  counters.profiler = "callgrind";
  counters.calls = calls;
  counters.simulated_bytes = lines * static_cast<double>(profile.line_bytes) / static_cast<double>(calls);
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
