// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/ncu.hpp"

#include "profile/csv.hpp"
#include "profile/profiler.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

namespace flashpad::profile {

namespace {

constexpr char const* dram_read = "dram__bytes_read.sum";
constexpr char const* dram_write = "dram__bytes_write.sum";
constexpr char const* l2_bytes = "lts__t_bytes.sum";
constexpr char const* l2_hits = "lts__t_sector_hit_rate.pct";
constexpr char const* warps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr char const* local_loads = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
constexpr char const* local_stores = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";
/// A metric and the unit that it comes in.
struct Metric {
  char const* name;
  std::string_view unit;
};
constexpr std::array<Metric, 7> metrics = {{{dram_read, "byte"},
                                            {dram_write, "byte"},
                                            {l2_bytes, "byte"},
                                            {l2_hits, "%"},
                                            {warps, "%"},
                                            {local_loads, "sector"},
                                            {local_stores, "sector"}}};
constexpr double sector_bytes = 32;

/// Values of one kernel, or of a range.
using Values = std::map<std::string, double>;

// "Kbyte", "Mbyte", "Gsector": ncu's units go by thousands. Any other word (KiB, Mbit, byte/second) would be
// taken for bytes.
double scale_of(std::string_view unit, Metric const& metric) {
  if (unit == metric.unit) return 1;
  if (metric.unit != "%" && unit.size() == metric.unit.size() + 1 && unit.ends_with(metric.unit)) {
    std::size_t const power = std::string_view("KMGTP").find(unit.front());
    if (power != std::string_view::npos) return std::pow(1000.0, static_cast<double>(power + 1));
  }
  throw Error(fmt::format("ncu: {} comes in `{}`; allowed: {}{}", metric.name, brief(unit), metric.unit,
                          metric.unit == "%" ? "" : ", with K, M, G, T or P before it"));
}

double value_of(Metric const& metric, std::string const& text, std::string const& unit) {
  double const value = csv_number(text, fmt::format("ncu: {}", metric.name)) * scale_of(unit, metric);
  if (metric.unit == "%" && value > 100)
    throw Error(fmt::format("ncu: {} is {} %; allowed: 0 to 100", metric.name, value));
  return value;
}

// A column a metric; the line of units has no ID.
std::vector<Values> read_raw(CsvTable const& table) {
  std::vector<Values> kernels;
  std::size_t const first = table.lines() > 0 && table.at(0, "ID").empty() ? 1 : 0;
  for (std::size_t line = first; line < table.lines(); ++line) {
    Values values;
    for (Metric const& metric : metrics) {
      if (!table.has(metric.name)) continue;
      values[metric.name] =
          value_of(metric, table.at(line, metric.name), first == 1 ? table.at(0, metric.name) : "");
    }
    kernels.push_back(values);
  }
  return kernels;
}

std::vector<Values> read_details(CsvTable const& table) {
  std::map<std::string, Values> kernels;
  for (std::size_t line = 0; line < table.lines(); ++line) {
    Values& values = kernels[table.at(line, "ID")];
    std::string const name = table.at(line, "Metric Name");
    for (Metric const& metric : metrics) {
      if (name == metric.name)
        values[name] = value_of(metric, table.at(line, "Metric Value"), table.at(line, "Metric Unit"));
    }
  }
  std::vector<Values> list;
  for (auto const& [id, values] : kernels) list.push_back(values);
  return list;
}

/// ncu's own words begin with `==`; its table is the run of quoted lines that starts with the names of the
/// columns. What the child prints may follow it (Kokkos' advice on OMP_PROC_BIND, say).
struct Log {
  std::string table;
  std::string complaint;  ///< the first error, or else the last warning
};

Log split(std::string const& text) {
  Log log;
  bool error = false, ended = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==ERROR==") && !error) {
      log.complaint = line.substr(line.find_first_not_of(' ', 9));
      error = true;
    } else if (line.starts_with("==WARNING==") && !error) {
      log.complaint = line.substr(line.find_first_not_of(' ', 11));
    } else if (line.starts_with(log.table.empty() ? "\"ID\"" : "\"")) {
      if (!ended) log.table += line + '\n';
    } else if (!log.table.empty() && !line.starts_with("==")) {
      ended = true;
    }
  }
  return log;
}

std::string metric_names() {
  std::string names;
  for (Metric const& metric : metrics) names += fmt::format("{}{}", names.empty() ? "" : ",", metric.name);
  return names;
}

class Ncu final : public Profiler {
 public:
  Ncu(std::string program, std::string replay) : m_program(std::move(program)), m_replay(std::move(replay)) {}

  [[nodiscard]] std::string name() const override { return "ncu"; }
  [[nodiscard]] Range range() const override { return Range::device; }

  [[nodiscard]] std::string version() const override {
    std::string last;
    std::istringstream lines(version_text(m_program));
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) last = line;
    }
    return brief(last);
  }

  [[nodiscard]] Counters count(Command const& child, std::int64_t calls) const override {
    TemporaryFolder const folder;
    std::string const log = folder.path() / "log";
    // The range is that between cudaProfilerStart and cudaProfilerStop. Run anew for each pass, it needs no
    // memory saved and restored between passes, which would stand in the caches; and kernels follow each
    // other as in use.
    Command command = {m_program,       "--replay-mode",
                       m_replay,        "--cache-control",
                       "none",          "--clock-control",
                       "none",          "--metrics",
                       metric_names(),  "--csv",
                       "--page",        "raw",
                       "--print-units", "base",
                       "--log-file",    log};
    if (!m_replay.ends_with("range")) {
      command.emplace_back("--profile-from-start");
      command.emplace_back("off");
    }
    command.insert(command.end(), child.begin(), child.end());
    Ended const ended = run(command, {{"LC_ALL", "C"}});
    std::string const text = text_of(log) + ended.out;
    if (ended.err.find("flashpad: error: ") != std::string::npos) throw Error(ended.reason());
    Counters counters = read_ncu(text + ended.err, calls);
    if (ended.code != 0)
      throw Error(fmt::format("ncu ended with exit code {}: {}", ended.code, ended.reason()));
    return counters;
  }

 private:
  std::string m_program;
  std::string m_replay;
};

}  // namespace

Counters read_ncu(std::string const& text, std::int64_t calls) {
  if (text.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    throw Denied(
        "ncu: the driver gives this user no counters (ERR_NVGPUCTRPERM); allowed: root, a container with "
        "--cap-add=SYS_ADMIN, or any user once the nvidia module is loaded with "
        "NVreg_RestrictProfilingToAdminUsers=0");
  }
  Log const log = split(text);
  CsvTable const table(log.table);
  std::vector<Values> const kernels = table.has("Metric Name") ? read_details(table) : read_raw(table);
  auto const complain = [&](std::string const& what) {
    throw Error(
        fmt::format("ncu: {}{}", what, log.complaint.empty() ? "" : "; it says: " + brief(log.complaint)));
  };
  if (kernels.empty()) complain("its output has no line of metrics");
  for (Metric const& metric : metrics) {
    for (Values const& values : kernels) {
      if (!values.contains(metric.name)) complain(fmt::format("its output lacks {}", metric.name));
    }
  }

  auto const each = static_cast<double>(calls);
  auto const sum = [&](char const* metric) {
    double total = 0;
    for (Values const& values : kernels) total += values.at(metric);
    return total;
  };
  // Memory may well have moved nothing where the cache holds all. A kernel that asked the cache for nothing
  // and had no warp was none: the counters stood still.
  for (char const* witness : {l2_bytes, warps}) {
    if (sum(witness) <= 0) complain(fmt::format("{} is 0: nothing was counted in the range", witness));
  }
  double const weight = sum(l2_bytes);
  auto const mean = [&](char const* metric) {
    double total = 0;
    for (Values const& values : kernels) {
      total += values.at(l2_bytes) / weight * values.at(metric);
    }
    return total / 100;
  };
  Counters counters;
  counters.profiler = "ncu";
  counters.calls = calls;
  counters.dram_read_bytes = sum(dram_read) / each;
  counters.dram_write_bytes = sum(dram_write) / each;
  counters.l2_bytes = weight / each;
  counters.l2_hit_rate = mean(l2_hits);
  counters.occupancy = mean(warps);
  counters.spill_bytes = (sum(local_loads) + sum(local_stores)) * sector_bytes / each;
  return counters;
}

std::unique_ptr<Profiler> make_ncu(Choice const& choice) {
  std::string const wanted = choice.program.empty() ? "ncu" : choice.program;
  std::string const program = find_program(wanted, {"/usr/local/cuda/bin", "/opt/nvidia/nsight-compute"});
  if (program.empty()) {
    throw Denied(
        fmt::format("--profiler: {} is not to be found in PATH or /usr/local/cuda/bin; allowed: NVIDIA "
                    "Nsight Compute's ncu (a part of the CUDA toolkit), by name or path",
                    wanted));
  }
  return std::make_unique<Ncu>(program, choice.replay);
}

}  // namespace flashpad::profile
