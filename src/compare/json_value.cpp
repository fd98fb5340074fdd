// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/json_value.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace flashpad::compare {

namespace {

constexpr std::size_t longest_shown = 60;

std::string shown(nlohmann::json const& json) {
  if (json.is_array()) return fmt::format("an array of {}", json.size());
  if (json.is_object()) return "an object";
  std::string const text = printable(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return text.size() <= longest_shown ? text : text.substr(0, longest_shown) + "...";
}

}  // namespace

std::string printable(std::string const& text) {
  constexpr unsigned char first_printable = 0x20;
  constexpr unsigned char del = 0x7f;
  std::string safe;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte < first_printable || byte == del) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += c;
    }
  }
  return safe;
}

bool JsonValue::has(char const* key) const {
  if (!m_json->is_object()) refuse("an object");
  auto const found = m_json->find(key);
  return found != m_json->end() && !found->is_null();
}

JsonValue JsonValue::at(char const* key) const {
  static nlohmann::json const nothing;
  if (!m_json->is_object()) refuse("an object");
  auto const found = m_json->find(key);
  JsonValue value(m_label, found == m_json->end() ? nothing : *found);
  value.m_path = m_path.empty() ? key : m_path + "." + key;
  return value;
}

JsonValue JsonValue::at(std::size_t index) const {
  JsonValue value(m_label, (*m_json)[index]);
  value.m_path = fmt::format("{}[{}]", m_path, index);
  return value;
}

std::size_t JsonValue::size() const {
  if (!m_json->is_array()) refuse("an array");
  return m_json->size();
}

std::string JsonValue::text() const {
  if (!m_json->is_string() || m_json->get_ref<std::string const&>().empty()) refuse("some text");
  return m_json->get<std::string>();
}

std::string JsonValue::text_or(char const* key, std::string const& otherwise) const {
  return has(key) ? at(key).text() : otherwise;
}

double JsonValue::seconds(double unit) const {
  double const value = m_json->is_number() ? m_json->get<double>() * unit : 0;
  if (!(value > 0) || !std::isfinite(value)) refuse("a time above 0");
  return value;
}

std::optional<double> JsonValue::seconds_of(char const* key) const {
  return has(key) ? std::optional(at(key).seconds()) : std::nullopt;
}

double JsonValue::at_least_zero() const {
  double const value = m_json->is_number() ? m_json->get<double>() : -1;
  if (!(value >= 0) || !std::isfinite(value)) refuse("a number from 0");
  return value;
}

int JsonValue::count() const {
  constexpr auto most = std::numeric_limits<int>::max();
  bool const whole = m_json->is_number_unsigned();
  if (!whole || m_json->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    refuse(fmt::format("a whole number from 0 to {}", most));
  }
  return m_json->get<int>();
}

std::vector<double> JsonValue::all_seconds(double unit) const {
  std::vector<double> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(at(i).seconds(unit));
  return all;
}

std::string JsonValue::word() const {
  if (m_json->is_null()) return "";
  if (m_json->is_string()) return m_json->get<std::string>();
  if (m_json->is_number_integer() || m_json->is_boolean()) return m_json->dump();
  refuse("a word, a whole number, true or false");
}

void JsonValue::refuse(std::string const& allowed) const {
  std::string const place = m_path.empty() ? "the document" : m_path;
  std::string const found = m_json->is_null() ? "missing" : "is " + shown(*m_json);
  throw Error(fmt::format("{}: {}: {}; allowed: {}", m_label, place, found, allowed));
}

}  // namespace flashpad::compare
