// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace flashpad::yaml {

/// Throws Error "LOCATION: PATH: MESSAGE".
[[noreturn]] void fail(Location const& at, std::string_view path, std::string_view message);

/// Throws Error "LOCATION: PATH: found X; allowed: ALLOWED".
[[noreturn]] void fail_found(Node const& node, std::string_view path, std::string_view allowed);

/// What a node is, in a few words that fit one line.
std::string describe(Node const& node);

/// Text of unknown origin for one line of output: shortened, control characters escaped.
std::string printable(std::string_view text, std::size_t max_shown = 60);

/// "a, b, c"
std::string join(std::vector<std::string> const& words);

/// "; did you mean 'x'" for the candidate nearest to a mistyped word, or nothing where none is near.
std::string suggestion(std::string_view word, std::vector<std::string> const& candidates);

/// The path of a key or of a list's element.
std::string child_path(std::string_view parent, std::string_view key);
std::string element_path(std::string_view parent, std::size_t index);

/// Refuses a node that is no map or has a key that is not listed.
void require_map(Node const& node, std::string_view path, std::vector<std::string> const& known_keys);

}  // namespace flashpad::yaml
