// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace flashpad::report {

/// A row under the names of docs/reports.md, in their order. What was not measured, and a number that is not
/// finite, is null.
nlohmann::ordered_json to_json(Row const& row);

/// {"context": {...}, "rows": [...]}, indented, with a newline at the end.
std::string json_document(nlohmann::ordered_json const& context, std::vector<Row> const& rows);

/// The same rows and names as comma-separated values with a header line; null is an empty field. Fields that
/// need it are quoted as RFC 4180 says. The context has no place here.
std::string csv_document(std::vector<Row> const& rows);

}  // namespace flashpad::report
