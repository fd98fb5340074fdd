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
  std::optional<std::string> tile;  ///< "QxK"
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
  std::optional<double> bytes_measured;  ///< only where a profiler counted
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
};

}  // namespace flashpad
