// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::results {

/// Text of a file for an error: in backticks, on one line, and cut where it is long.
std::string cited(std::string_view text);

/// An object of a result file, read by name. A name that is missing or null is an empty optional, or the
/// empty text; a value of another type throws Error with its place.
class Fields {
 public:
  /// `place`: file and path of the object, as in "rows.json: rows[3]". Throws Error where it is no object.
  Fields(nlohmann::ordered_json const& object, std::string place);

  [[nodiscard]] std::string text(char const* name) const;
  [[nodiscard]] std::optional<std::string> optional_text(char const* name) const;
  [[nodiscard]] std::optional<double> number(char const* name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(char const* name) const;
  [[nodiscard]] std::optional<int> count(char const* name) const;  ///< from 0 to 2^31 - 1
  [[nodiscard]] std::optional<bool> boolean(char const* name) const;
  /// Text that has to be there, and not empty.
  [[nodiscard]] std::string required_text(char const* name) const;
  /// Text, a whole number or a truth, as text.
  [[nodiscard]] std::string word(char const* name) const;
  /// A time above 0.
  [[nodiscard]] std::optional<double> seconds(char const* name, double unit = 1) const;
  /// Times above 0; empty where there are none.
  [[nodiscard]] std::vector<double> all_seconds(char const* name, double unit = 1) const;
  /// An array, or null where there is none.
  [[nodiscard]] nlohmann::ordered_json const* array(char const* name) const;
  [[nodiscard]] bool has(char const* name) const { return find(name) != nullptr; }

  [[noreturn]] void refuse(char const* name, std::string_view allowed) const;
  [[nodiscard]] std::string const& place() const { return m_place; }

 private:
  [[nodiscard]] nlohmann::ordered_json const* find(char const* name) const;

  nlohmann::ordered_json const& m_object;
  std::string m_place;
};

}  // namespace flashpad::results
