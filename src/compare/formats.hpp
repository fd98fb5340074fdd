// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "compare/json_value.hpp"
#include "compare/result_file.hpp"

// Who writes result files, and how each names what it measured. A new one is a function here.

namespace flashpad::compare {

/// "rows": of flashpad run, scripts/bench_host.py (which adds `peer`) or scripts/gpu_peers.py (whose times
/// are in `ms`).
void read_rows(JsonValue const& rows, ResultFile& file);

/// "searches" of flashpad tune: the winner of each, by the name that its problem and kernel have in short.
void read_searches(JsonValue const& searches, ResultFile& file);

/// "benchmarks": of Google Benchmark, as flashpad bench writes them. Repetitions of a benchmark are samples
/// of one row; of the aggregates only the median counts, and only where the repetitions are not there.
void read_google_benchmark(JsonValue const& benchmarks, ResultFile& file);

}  // namespace flashpad::compare
