// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace flashpad::compare {

/// A value of a JSON file that somebody else wrote, with its place for errors. Every accessor throws Error
/// that names the file, the path of the value, what was found and what is allowed.
class JsonValue {
 public:
  JsonValue(std::string label, nlohmann::json const& json) : m_label(std::move(label)), m_json(&json) {}

  [[nodiscard]] bool has(char const* key) const;  ///< and it is not null
  [[nodiscard]] JsonValue at(char const* key) const;
  [[nodiscard]] JsonValue at(std::size_t index) const;
  [[nodiscard]] std::size_t size() const;  ///< of an array

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string text_or(char const* key, std::string const& otherwise) const;
  [[nodiscard]] double seconds(double unit = 1) const;  ///< above 0 and finite
  [[nodiscard]] std::optional<double> seconds_of(char const* key) const;
  [[nodiscard]] double at_least_zero() const;
  [[nodiscard]] int count() const;  ///< 0 up to 2^31 - 1
  [[nodiscard]] std::vector<double> all_seconds(double unit = 1) const;
  /// A word, whole number or truth as one word; empty for null.
  [[nodiscard]] std::string word() const;

  [[nodiscard]] nlohmann::json const& json() const { return *m_json; }
  [[noreturn]] void refuse(std::string const& allowed) const;

 private:
  std::string m_label;
  std::string m_path;
  nlohmann::json const* m_json;
};

/// Bytes that a terminal would take for commands, or a line's end, as \xNN.
std::string printable(std::string const& text);

}  // namespace flashpad::compare
