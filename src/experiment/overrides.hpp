// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/document.hpp"

#include <string>
#include <vector>

namespace flashpad::yaml {

/// Applies "path=value" arguments of --set to a document, in order. A path is keys joined by dots; a value
/// is YAML. A key that is already there keeps its place among the others, a new one comes last. Whether
/// the keys mean anything is checked where the document is read. Throws Error on an argument without a path
/// or a value, and where one argument would undo an earlier one.
void apply_overrides(Node& document, std::vector<std::string> const& overrides);

}  // namespace flashpad::yaml
