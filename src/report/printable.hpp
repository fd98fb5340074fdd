// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace flashpad::report {

/// Bytes that a terminal would take for commands, a line's end or another direction of writing, as \xNN.
std::string printable(std::string_view text);

}  // namespace flashpad::report
