// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/rocprof.hpp"

#include "measure/range_marks.hpp"
#include "profile/csv.hpp"
#include "profile/profiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

namespace flashpad::profile {

namespace {

// What one run counts: the second-level cache has few counters, and rocprofv3 does not run a program twice.
constexpr std::array passes_of_counters = {std::array<char const*, 2>{"FETCH_SIZE", nullptr},
                                           std::array<char const*, 2>{"WRITE_SIZE", nullptr},
                                           std::array<char const*, 2>{"TCC_HIT_sum", "TCC_MISS_sum"},
                                           std::array<char const*, 2>{"OccupancyPercent", nullptr}};

struct Totals {
  std::map<std::string, double> sum;
  std::map<std::string, double> by_time;  ///< value times nanoseconds
  double nanoseconds = 0;
  double scratch = 0;  ///< bytes of a lane, the most of any kernel
};

bool marks(std::string const& kernel, char const* mark) { return kernel.find(mark) != std::string::npos; }

// Dispatch numbers of the marks; lines are in no certain order.
std::pair<std::int64_t, std::int64_t> range_of(CsvTable const& table) {
  std::pair<std::int64_t, std::int64_t> range = {-1, -1};
  for (std::size_t line = 0; line < table.lines(); ++line) {
    std::string const kernel = table.at(line, "Kernel_Name");
    auto const dispatch = static_cast<std::int64_t>(csv_number(table.at(line, "Dispatch_Id"), "Dispatch_Id"));
    if (marks(kernel, measure::range_begin_mark)) range.first = dispatch;
    if (marks(kernel, measure::range_end_mark)) range.second = dispatch;
  }
  return range;
}

void add_pass(std::string const& text, Totals& totals) {
  CsvTable const table(text);
  for (char const* column : {"Dispatch_Id", "Kernel_Name", "Scratch_Size", "Counter_Name", "Counter_Value",
                             "Start_Timestamp", "End_Timestamp"}) {
    if (!table.has(column)) throw Error(fmt::format("rocprofv3: its output has no column {}", column));
  }
  auto const [begin, end] = range_of(table);
  if (begin < 0 || end <= begin) throw Error("rocprofv3: its output has no kernels that mark a range");
  for (std::size_t line = 0; line < table.lines(); ++line) {
    auto const number = [&](char const* column) {
      return csv_number(table.at(line, column), fmt::format("rocprofv3: {}", column));
    };
    auto const dispatch = static_cast<std::int64_t>(number("Dispatch_Id"));
    if (dispatch <= begin || dispatch >= end) continue;
    std::string const counter = table.at(line, "Counter_Name");
    double const nanoseconds = number("End_Timestamp") - number("Start_Timestamp");
    if (nanoseconds <= 0)
      throw Error(fmt::format("rocprofv3: dispatch {} ends at {}, no later than it starts", dispatch,
                              brief(table.at(line, "End_Timestamp"))));
    double const value = number("Counter_Value");
    if (counter == "OccupancyPercent" && value > 100)
      throw Error(fmt::format("rocprofv3: {} is {} %; allowed: 0 to 100", counter, value));
    totals.sum[counter] += value;
    totals.by_time[counter] += value * nanoseconds;
    if (counter == "OccupancyPercent") totals.nanoseconds += nanoseconds;
    totals.scratch = std::max(totals.scratch, number("Scratch_Size"));
  }
}

std::vector<std::string> tables_in(std::filesystem::path const& folder) {
  std::vector<std::string> texts;
  std::error_code error;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.path().filename().string().ends_with("counter_collection.csv"))
      texts.push_back(text_of(entry.path()));
  }
  return texts;
}

class Rocprof final : public Profiler {
 public:
  explicit Rocprof(std::string program) : m_program(std::move(program)) {}

  [[nodiscard]] std::string name() const override { return "rocprofv3"; }
  [[nodiscard]] Range range() const override { return Range::device; }

  [[nodiscard]] std::string version() const override {
    std::string text = version_text(m_program);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return brief(text.substr(0, text.find_last_not_of(' ') + 1));
  }

  [[nodiscard]] Counters count(Command const& child, std::int64_t calls) const override {
    std::vector<std::string> passes;
    for (auto const& counters : passes_of_counters) {
      TemporaryFolder const folder;
      Command command = {m_program, "--pmc"};
      for (char const* counter : counters) {
        if (counter != nullptr) command.emplace_back(counter);
      }
      for (std::string const& word : {std::string("--output-format"), std::string("csv"), std::string("-d"),
                                      folder.path().string(), std::string("--")}) {
        command.push_back(word);
      }
      command.insert(command.end(), child.begin(), child.end());
      Ended const ended = run(command, {{"LC_ALL", "C"}});
      if (ended.code != 0) {
        throw Error(ended.err.find("flashpad: error: ") != std::string::npos
                        ? ended.reason()
                        : fmt::format("rocprofv3 ended with exit code {}: {}", ended.code, ended.reason()));
      }
      std::vector<std::string> const texts = tables_in(folder.path());
      if (texts.empty()) {
        throw Denied(fmt::format(
            "rocprofv3: counted nothing for {} and says `{}`; allowed: a user in the groups render and "
            "video, and a GPU that has this counter (rocprofv3-avail list)",
            counters[0], ended.reason()));
      }
      passes.insert(passes.end(), texts.begin(), texts.end());
    }
    return read_rocprof(passes, calls);
  }

 private:
  std::string m_program;
};

}  // namespace

Counters read_rocprof(std::vector<std::string> const& passes, std::int64_t calls) {
  Totals totals;
  for (std::string const& pass : passes) add_pass(pass, totals);
  for (auto const& counters : passes_of_counters) {
    for (char const* counter : counters) {
      if (counter != nullptr && !totals.sum.contains(counter)) {
        throw Error(fmt::format("rocprofv3: its output has no {} in the range", counter));
      }
    }
  }
  double const hits = totals.sum["TCC_HIT_sum"];
  double const requests = hits + totals.sum["TCC_MISS_sum"];
  // As with ncu: memory may have moved nothing, but kernels ask the second-level cache and have wavefronts.
  if (requests <= 0)
    throw Error("rocprofv3: TCC_HIT_sum and TCC_MISS_sum are 0: nothing was counted in the range");
  if (totals.by_time["OccupancyPercent"] <= 0)
    throw Error("rocprofv3: OccupancyPercent is 0: nothing was counted in the range");
  auto const each = static_cast<double>(calls);
  constexpr double kilobyte = 1024;
  Counters counters;
  counters.profiler = "rocprofv3";
  counters.calls = calls;
  counters.dram_read_bytes = totals.sum["FETCH_SIZE"] * kilobyte / each;
  counters.dram_write_bytes = totals.sum["WRITE_SIZE"] * kilobyte / each;
  counters.l2_hit_rate = hits / requests;
  counters.occupancy = totals.by_time["OccupancyPercent"] / totals.nanoseconds / 100;
  counters.spill_bytes = totals.scratch;
  return counters;
}

std::unique_ptr<Profiler> make_rocprof(Choice const& choice) {
  std::string const wanted = choice.program.empty() ? "rocprofv3" : choice.program;
  std::string const program = find_program(wanted, {"/opt/rocm/bin"});
  if (program.empty()) {
    throw Denied(
        fmt::format("--profiler: {} is not to be found in PATH or /opt/rocm/bin; allowed: rocprofv3 of "
                    "ROCm 6.2 or newer (package rocprofiler-sdk), by name or path",
                    wanted));
  }
  return std::make_unique<Rocprof>(program);
}

}  // namespace flashpad::profile
