// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/document.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::yaml {

// Strict readers of one value. Each takes a node and its path, and throws Error on anything else than the
// one notation it names: nothing is rounded, truncated or converted.

/// Plain decimal digits, with a minus where `min` is negative: no 1e3, 1.0, 0x10, 007, 1_000 or "512".
std::int64_t read_integer(Node const& node, std::string_view path, std::int64_t min, std::int64_t max);

/// A finite decimal number (JSON's notation) that fits a float32.
double read_number(Node const& node, std::string_view path);

/// true or false.
bool read_boolean(Node const& node, std::string_view path);

/// Bytes as a whole number, alone or followed by KiB, MiB, GiB, TiB, KB, MB, GB or TB.
double read_bytes(Node const& node, std::string_view path);

/// Text on one line that is not empty, quoted or not.
std::string read_text_value(Node const& node, std::string_view path);

/// The index of the word in `words`.
std::size_t read_word(Node const& node, std::string_view path, std::vector<std::string> const& words);

/// Whether the node is this word.
bool is_word(Node const& node, std::string_view word);

}  // namespace flashpad::yaml
