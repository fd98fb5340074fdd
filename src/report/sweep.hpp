// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashpad::report {

/// One kernel beside naive over the lengths of a sweep.
struct Crossover {
  std::string series;  ///< the case's name, its length replaced by *
  std::string kernel;
  std::int64_t first = 0, last = 0;  ///< lengths at which both were measured
  double first_speedup = 0, last_speedup = 0;
  std::optional<std::int64_t> behind;  ///< the longest at which naive is faster or as fast
  std::optional<std::int64_t> ahead;   ///< from here on the kernel is faster
};

/// Of every series with two lengths or more at which a speedup over naive is known; by length, whatever the
/// order of the rows.
std::vector<Crossover> crossovers(std::vector<Row> const& rows);

/// A size that the scores of one head may exceed.
struct Limit {
  std::string name;
  double bytes = 0;
};

/// Lines below the table of a sweep over lengths: where each kernel passes naive, from which length on naive
/// does not fit and what it asked for, and the length at which the scores of one head first exceed each
/// limit. Empty where the rows are no such sweep.
std::string sweep_text(std::vector<Row> const& rows, std::vector<Limit> const& limits);

nlohmann::ordered_json to_json(Crossover const& crossover);

}  // namespace flashpad::report
