// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "result_file/result_file.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace flashpad::compare {

/// What is compared of a row of a result file, or of a search, whose time is its winner's.
struct Measurement {
  std::string name;  ///< unique in its file
  results::Facts facts;
  std::string status;             ///< "ok", or why there is no time
  std::optional<double> seconds;  ///< median
  std::vector<double> samples;    ///< seconds, in the order they were taken; empty where the file has none
  std::optional<double> spread;   ///< (75th - 25th percentile) / median, of `repetitions` samples
  int repetitions = 0;
};

struct Measurements {
  std::string label;   ///< the file, as it was named
  std::string writer;  ///< the program that wrote it
  nlohmann::json context;
  std::vector<Measurement> rows;
};

/// The same search has one name on every backend and engine, unless one file has it on several.
Measurements measurements(results::ResultFile const& file);

}  // namespace flashpad::compare
