// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "result_file/result_file.hpp"

#include <string>
#include <utility>
#include <vector>

namespace flashpad::html_report {

/// A verified row of one contender on one problem.
inline results::Entry entry(std::string const& contender, std::int64_t length, double seconds) {
  results::Entry entry;
  entry.contender = contender;
  entry.machine = "A machine";
  Row& row = entry.row;
  row.case_name = contender + std::to_string(length);
  row.kernel = contender;
  row.backend = "openmp";
  row.dtype = "fp32";
  row.mask = "none";
  row.layout = "bhnd";
  row.shape = {.batch = 1,
               .heads = 2,
               .kv_heads = 2,
               .seq_q = length,
               .seq_k = length,
               .head_dim = 64,
               .value_dim = 64};
  row.status = Status::ok;
  row.verified = true;
  row.median_s = seconds;
  row.spread = 0.01;
  row.flops = 4.0 * 64 * 2 * static_cast<double>(length * length);
  row.tflops = *row.flops / seconds / 1e12;
  row.bytes_model = 1e6;
  row.intensity = *row.flops / 1e6;
  row.max_abs_err = 1e-7;
  row.tolerance = 1e-5;
  return entry;
}

inline results::ResultFile file_of(std::vector<results::Entry> entries,
                                   std::string const& name = "one.json") {
  results::ResultFile file;
  file.path = name;
  file.format = "flashpad run";
  file.context = nlohmann::ordered_json::object();
  file.entries = std::move(entries);
  return file;
}

}  // namespace flashpad::html_report
