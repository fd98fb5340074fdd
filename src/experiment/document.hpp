// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::yaml {

/// Where a value was written: a line and column (from 1, in bytes) of a file, or, with line 0, a whole
/// command-line argument.
struct Location {
  std::shared_ptr<std::string const> source;
  int line = 0;
  int column = 0;
};

/// "quickstart.yaml:3:9" or "--set problem.heads=8".
std::string to_string(Location const& location);

struct Key {
  std::string name;
  Location at;
};

/// One value of a document, with its place. Aliases are already expanded; keys keep the order written.
struct Node {
  enum class Kind { nothing, scalar, sequence, map };

  Kind kind = Kind::nothing;
  std::string text;     ///< scalar only
  bool quoted = false;  ///< scalar only: text in quotes or a block, never a number
  Location at;
  std::vector<Key> keys;     ///< map only
  std::vector<Node> values;  ///< of a map, in the order of keys; or of a sequence

  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }

  /// The value of `key` in a map, or null.
  [[nodiscard]] Node const* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
};

// What one document may hold. All are far above what an experiment needs.
inline constexpr std::size_t max_bytes = std::size_t{1} << 20;
inline constexpr std::size_t max_depth = 16;
inline constexpr std::size_t max_values = 50000;

/// Parses one YAML document. `start` names the text in errors; with start.line = 0 they carry no line. Kind
/// `nothing` stands for an empty document. Throws Error on what is not YAML, and on what could not be
/// understood in one way only: a second document, duplicate, merge or composed keys, tags, directives, tabs
/// as indentation, bytes that are no UTF-8, and anything past the limits above.
Node parse_document(std::string const& text, Location const& start);

/// The text of a file, at most max_bytes. Throws Error where there is no such readable file.
std::string read_text(std::string const& file);

}  // namespace flashpad::yaml
