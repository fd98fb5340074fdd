// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "command.hpp"

#include <flashpad/error.hpp>

#include "experiment/experiment.hpp"
#include "report/files.hpp"
#include "report/json.hpp"

#include <string>
#include <vector>

namespace flashpad::app {

/// What write() could not write, in words; empty where all was. For report_error(), once what was measured is
/// on the screen: a full disk must not lose that.
template <class Write>
std::string lost_by(Write const& write) {
  try {
    write();
  } catch (Error const& lost) {
    return lost.what();
  }
  return "";
}

/// Writes the reports that the experiment asks for, before the rows are shown, as a closed pipe ends that.
/// Returns lost_by().
inline std::string write_reports(Output const& output, nlohmann::ordered_json const& context,
                                 std::vector<Row> const& rows) {
  if (rows.empty()) return "";  // interrupted before the first was done: an earlier run's file is worth more
  return lost_by([&] {
    if (!output.json.empty()) report::write_file(output.json, report::json_document(context, rows));
    if (!output.csv.empty()) report::write_file(output.csv, report::csv_document(rows));
  });
}

}  // namespace flashpad::app
