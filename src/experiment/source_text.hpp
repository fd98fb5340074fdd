// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/document.hpp"

#include <string>

namespace flashpad::yaml {

/// The text as the YAML parser may see it: without byte-order mark, lines ending in \n, and "..." as one line
/// more, the end of the document. Throws Error on
/// bytes that are no UTF-8, control characters, tabs as indentation, directives, and text past max_bytes.
std::string checked_text(std::string const& text, Location const& start);

}  // namespace flashpad::yaml
