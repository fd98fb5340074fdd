// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/fields.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

// What an error shows of a value: one line, not a whole document.
std::string excerpt(Json const& value) {
  constexpr std::size_t most = 40;
  if (value.is_object() || value.is_array()) return fmt::format("an {}", value.type_name());
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) text = text.substr(0, most) + "...";
  return fmt::format("`{}`", text);
}

}  // namespace

Fields::Fields(Json const& object, std::string place) : m_object(object), m_place(std::move(place)) {
  if (!object.is_object()) {
    throw Error(fmt::format("{}: found {}; allowed: an object", m_place, excerpt(object)));
  }
}

Json const* Fields::find(char const* name) const {
  auto const found = m_object.find(name);
  return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void Fields::refuse(char const* name, char const* allowed) const {
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

std::string Fields::text(char const* name) const { return optional_text(name).value_or(""); }

std::optional<double> Fields::number(char const* name) const {
  Json const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  // Times, rates, bytes and errors; what is larger would make infinities of the plots' sums and products.
  char const* const allowed = "a number from 0 to 1e30, or null";
  if (!value->is_number()) refuse(name, allowed);
  double const number = value->get<double>();
  if (!(number >= 0 && number <= 1e30)) refuse(name, allowed);
  return number;
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
