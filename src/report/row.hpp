// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashpad {

enum class Status : std::uint8_t { ok, failed, oom, skipped };

std::string_view name(Status status) noexcept;

/// What a profiler counted in one call of a case, in steady state; a simulator's word is kept apart.
struct Counters {
  std::string profiler;    ///< "ncu", "rocprofv3", "perf_event" or "callgrind"
  std::int64_t calls = 0;  ///< in the measured range; all numbers are a call's
  std::optional<double> dram_read_bytes, dram_write_bytes;
  std::optional<double> l2_bytes;     ///< between the second-level cache and the multiprocessors
  std::optional<double> l2_hit_rate;  ///< of 1
  std::optional<double> occupancy;    ///< achieved: resident warps or wavefronts, of the most there can be
  std::optional<double> spill_bytes;  ///< ncu: of local memory, loaded and stored; rocprofv3: scratch a lane
  std::optional<double> cycles, instructions;  ///< of all threads, in user mode
  std::optional<double> cache_misses;          ///< of the last level, as the processor defines them
  std::optional<double> flops;                 ///< retired, where the processor counts them
  std::optional<double> simulated_bytes;       ///< lines in and out of a simulated cache: no measurement
};

/// One measured case. Every report reads this struct and nothing else; an empty optional is a null.
struct Row {
  std::string case_name;  ///< "case" in JSON
  std::string kernel;
  std::string backend;
  std::optional<std::string> engine;
  std::string dtype;
  Shape shape;
  std::string mask;
  std::string layout;
  std::optional<std::string> tile;       ///< "QxK"
  std::optional<std::string> tile_from;  ///< "asked", "table" or "cache"
  std::optional<int> splits;

  Status status = Status::skipped;
  std::string reason;  ///< why it failed, was skipped or ran out of memory; how `auto` chose

  std::optional<double> median_s;
  std::optional<double> min_s;
  std::optional<double> spread;  ///< (75th - 25th percentile) / median
  int repetitions = 0;
  std::vector<double> samples_s;       ///< of each timed call, in order; JSON only
  std::string cache;                   ///< "cold" or "warm"
  std::optional<double> first_call_s;  ///< plan and first call, never part of the median

  std::optional<double> flops;
  std::optional<double> tflops;
  std::optional<double> bytes_model;
  std::optional<double> bytes_tiles;     ///< tiled kernels only
  std::optional<double> bytes_measured;  ///< memory read and written, only where a profiler counted
  std::optional<double> intensity;       ///< flops / bytes_model
  std::optional<std::string> roof;       ///< "compute" or "bandwidth"
  std::optional<double> roof_fraction;
  std::string flag;  ///< "", "suspect" or "cache-resident" (docs/reports.md)

  std::optional<double> max_abs_err;
  std::optional<double> tolerance;
  std::optional<double> rel_err;
  std::optional<double> lse_max_err;
  std::optional<std::string> worst;  ///< index of the worst element, "b,h,i,c"
  std::optional<bool> verified;
  std::int64_t verified_rows = 0;  ///< query rows compared with the reference

  std::optional<double> workspace_bytes;
  std::optional<double> bytes_needed;  ///< what an `oom` row would have needed
  std::optional<int> launches;
  std::optional<double> speedup_vs_naive;  ///< naive's median / this median, same case and backend
  std::optional<double> byte_ratio;        ///< model(naive) / model(this), same case

  std::optional<Counters> counters;  ///< `flashpad profile` alone
  /// Bytes of naive-vendor (or of naive, where that is not in the experiment) / this one's, same case: as the
  /// models and as the counters have it.
  std::optional<double> saved_model, saved_measured;
};

/// Adds a remark to a row's reason, after what is there; nothing where `text` is empty.
void add_note(Row& row, std::string const& text);

/// Puts why a row is not ok in front of the remarks in its reason.
void add_cause(Row& row, std::string const& text);

}  // namespace flashpad
