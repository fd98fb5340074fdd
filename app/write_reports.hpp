// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "experiment/experiment.hpp"
#include "report/files.hpp"
#include "report/json.hpp"

#include <string>
#include <vector>

namespace flashpad::app {

/// Writes the reports that the experiment asks for. Before the rows are shown, as a closed pipe ends that;
/// but what could not be written is returned, in one line, for a full disk must not lose the rows on the
/// screen.
inline std::string write_reports(Output const& output, nlohmann::ordered_json const& context,
                                 std::vector<Row> const& rows) {
  if (rows.empty()) return "";  // interrupted before the first was done: an earlier run's file is worth more
  try {
    if (!output.json.empty()) report::write_file(output.json, report::json_document(context, rows));
    if (!output.csv.empty()) report::write_file(output.csv, report::csv_document(rows));
  } catch (Error const& lost) {
    return lost.what();
  }
  return "";
}

}  // namespace flashpad::app
