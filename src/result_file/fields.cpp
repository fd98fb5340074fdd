// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/fields.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

// Times, rates, bytes and errors; what is larger would make infinities of the plots' sums and products.
constexpr double most = 1e30;
constexpr double least_time = 1e-15;  // and what is less, of their quotients

// What an error shows of a value: one line, not a whole document.
std::string excerpt(Json const& value) {
  constexpr std::size_t longest = 40;
  if (value.is_object() || value.is_array()) return fmt::format("an {}", value.type_name());
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return fmt::format("`{}`", text);
}

// Empty where it is no time.
std::optional<double> time_of(Json const& value, double unit) {
  double const seconds = value.is_number() ? value.get<double>() * unit : 0;
  return seconds >= least_time && seconds <= most ? std::optional(seconds) : std::nullopt;
}

constexpr char const* a_time = "a time from 1e-15 to 1e30 s";

}  // namespace

std::string cited(std::string_view text) {
  std::string const shown = excerpt(Json(std::string(text)));
  // Without the quotes of JSON, the last of which may have been cut.
  bool const whole = shown.ends_with("\"`");
  return "`" + shown.substr(2, shown.size() - (whole ? 4 : 3)) + "`";
}

Fields::Fields(Json const& object, std::string place) : m_object(object), m_place(std::move(place)) {
  if (!object.is_object()) {
    throw Error(fmt::format("{}: found {}; allowed: an object", m_place, excerpt(object)));
  }
}

Json const* Fields::find(char const* name) const {
  auto const found = m_object.find(name);
  return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void Fields::refuse(char const* name, std::string_view allowed) const {
  Json const* const value = find(name);
  throw Error(fmt::format("{}.{}: found {}; allowed: {}", m_place, name,
                          value == nullptr ? "nothing" : excerpt(*value), allowed));
}

std::optional<std::string> Fields::optional_text(char const* name) const {
  Json const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, "text or null");
  return value->get<std::string>();
}

std::string Fields::required_text(char const* name) const {
  std::string text = this->text(name);
  if (text.empty()) refuse(name, "some text");
  return text;
}

std::string Fields::word(char const* name) const {
  Json const* const value = find(name);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  if (!value->is_number_integer() && !value->is_boolean()) refuse(name, "text, a whole number or a truth");
  return value->dump();
}

std::string Fields::text(char const* name) const { return optional_text(name).value_or(""); }

std::optional<double> Fields::number(char const* name) const {
  Json const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  char const* const allowed = "a number from 0 to 1e30, or null";
  if (!value->is_number()) refuse(name, allowed);
  double const number = value->get<double>();
  if (number < 0 || number > most) refuse(name, allowed);
  return number;
}

std::optional<double> Fields::seconds(char const* name, double unit) const {
  Json const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  auto const seconds = time_of(*value, unit);
  if (!seconds) refuse(name, fmt::format("{}, or null", a_time));
  return seconds;
}

std::vector<double> Fields::all_seconds(char const* name, double unit) const {
  std::vector<double> all;
  Json const* const list = array(name);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    auto const seconds = time_of((*list)[i], unit);
    if (!seconds) {
      throw Error(
          fmt::format("{}.{}[{}]: found {}; allowed: {}", m_place, name, i, excerpt((*list)[i]), a_time));
    }
    all.push_back(*seconds);
  }
  return all;
}

std::optional<std::int64_t> Fields::integer(char const* name) const {
  Json const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  bool const fits = value->is_number_integer() &&
                    (value->is_number_unsigned() ? value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX}
                                                 : value->get<std::int64_t>() >= 0);
  if (!fits) refuse(name, "a whole number from 0 on, or null");
  return value->get<std::int64_t>();
}

std::optional<int> Fields::count(char const* name) const {
  auto const value = integer(name);
  if (!value) return std::nullopt;
  if (*value > INT32_MAX) refuse(name, fmt::format("a whole number from 0 to {}, or null", INT32_MAX));
  return static_cast<int>(*value);
}

std::optional<bool> Fields::boolean(char const* name) const {
  Json const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(name, "true, false or null");
  return value->get<bool>();
}

Json const* Fields::array(char const* name) const {
  Json const* const value = find(name);
  if (value != nullptr && !value->is_array()) refuse(name, "an array or null");
  return value;
}

}  // namespace flashpad::results
