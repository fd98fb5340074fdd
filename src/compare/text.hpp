// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "compare/compare.hpp"
#include "compare/context_difference.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace flashpad::compare {

/// What a terminal shows: files, what differs between their contexts, one line a case, cases that a column
/// lacks, what differs between rows beside their time, geometric means.
std::string text(std::vector<Measurements> const& files, std::vector<Difference> const& differences,
                 Comparison const& comparison, Rules const& rules);

/// The same as JSON, for other programs.
nlohmann::ordered_json document(std::vector<Measurements> const& files,
                                std::vector<Difference> const& differences, Comparison const& comparison);

}  // namespace flashpad::compare
