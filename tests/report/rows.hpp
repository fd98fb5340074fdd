// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

namespace flashpad::report {

/// A row with every field set.
inline Row full_row() {
  Row row;
  row.case_name = "quick-n512-fused";
  row.kernel = "fused";
  row.backend = "openmp";
  row.engine = "portable";
  row.dtype = "bf16";
  row.shape = {
      .batch = 2, .heads = 8, .kv_heads = 4, .seq_q = 512, .seq_k = 640, .head_dim = 64, .value_dim = 96};
  row.mask = "window[3,0]";
  row.layout = "bnhd";
  row.tile = "64x128";
  row.tile_from = "cache";
  row.splits = 2;
  row.status = Status::ok;
  row.reason = "auto chose fused";
  row.median_s = 0.00125;
  row.min_s = 0.001;
  row.spread = 0.02;
  row.repetitions = 10;
  row.samples_s = {0.0013, 0.00125, 0.001};
  row.cache = "cold";
  row.first_call_s = 0.5;
  row.flops = 4e9;
  row.tflops = 3.2;
  row.bytes_model = 8e6;
  row.bytes_tiles = 9e6;
  row.intensity = 500;
  row.roof = "compute";
  row.roof_fraction = 0.625;
  row.flag = "suspect";
  row.max_abs_err = 1.5e-3;
  row.tolerance = 5e-2;
  row.rel_err = 2e-3;
  row.lse_max_err = 1e-6;
  row.worst = "1,2,3,4";
  row.verified = true;
  row.verified_rows = 8192;
  row.workspace_bytes = 0;
  row.bytes_needed = 12345;
  row.launches = 1;
  row.speedup_vs_naive = 4.5;
  row.byte_ratio = 9;
  row.counters = {.profiler = "ncu",
                  .calls = 100,
                  .dram_read_bytes = 6e6,
                  .dram_write_bytes = 2e6,
                  .l2_bytes = 5e7,
                  .l2_hit_rate = 0.875,
                  .occupancy = 0.125,
                  .spill_bytes = 64,
                  .cycles = 1e6,
                  .instructions = 2e6,
                  .cache_misses = 3e4,
                  .flops = 4.1e9,
                  .simulated_bytes = 7e6};
  row.saved_model = 9;
  row.saved_measured = 7.5;
  return row;
}

}  // namespace flashpad::report
