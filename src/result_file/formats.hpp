// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "result_file/fields.hpp"
#include "result_file/result_file.hpp"

#include <string>

namespace flashpad::results {

// One file each: fills `entries` or `searches` from `document`, the whole of a file.
void read_run(nlohmann::ordered_json const& document, ResultFile& file);
void read_gpu_peers(nlohmann::ordered_json const& document, ResultFile& file);
void read_tune(nlohmann::ordered_json const& document, ResultFile& file);
void read_google_benchmark(nlohmann::ordered_json const& document, ResultFile& file);

/// "rows.json: rows[3]"
std::string place_of(ResultFile const& file, char const* array, std::size_t index);

/// Bytes, intensity and byte ratio by the model where the file has none and the kernel is one of ours: the
/// same formulas that `flashpad run` writes. Marks the entry as estimated here.
void complete_by_model(Entry& entry);

}  // namespace flashpad::results
