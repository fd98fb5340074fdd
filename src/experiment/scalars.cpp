// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/scalars.hpp"

#include "experiment/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace flashpad::yaml {

namespace {

constexpr std::string_view digits = "0123456789";

/// Takes "0" or digits without a leading zero off the front of `text`.
bool take_whole(std::string_view& text) {
  std::size_t const size = std::min(text.find_first_not_of(digits), text.size());
  if (size == 0 || (size > 1 && text[0] == '0')) return false;
  text.remove_prefix(size);
  return true;
}

bool take_digits(std::string_view& text) {
  std::size_t const size = std::min(text.find_first_not_of(digits), text.size());
  text.remove_prefix(size);
  return size > 0;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool is_whole_number(std::string_view text) {
  bool const negative = take(text, "-");
  if (negative && text == "0") return false;
  return take_whole(text) && text.empty();
}

bool is_number(std::string_view text) {
  take(text, "-");
  if (!take_whole(text)) return false;
  if (take(text, ".") && !take_digits(text)) return false;
  if (take(text, "eE")) {
    take(text, "+-");
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

template <class T>
std::optional<T> convert(std::string_view text) {
  T value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::int64_t read_integer(Node const& node, std::string_view path, std::int64_t min, std::int64_t max) {
  if (node.is_scalar() && !node.quoted && is_whole_number(node.text)) {
    std::optional<std::int64_t> const value = convert<std::int64_t>(node.text);
    if (value && *value >= min && *value <= max) return *value;
  }
  fail_found(node, path, fmt::format("a whole number from {} to {} in plain digits", min, max));
}

double read_number(Node const& node, std::string_view path) {
  if (node.is_scalar() && !node.quoted && is_number(node.text)) {
    std::optional<double> const value = convert<double>(node.text);
    if (value && std::abs(*value) <= std::numeric_limits<float>::max()) return *value;
  }
  fail_found(node, path, "a finite number such as 0.125, -2 or 1e-3, of a size that float32 holds");
}

bool read_boolean(Node const& node, std::string_view path) {
  if (node.is_scalar() && !node.quoted) {
    if (node.text == "true") return true;
    if (node.text == "false") return false;
  }
  fail_found(node, path, "true or false");
}

double read_bytes(Node const& node, std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 9> units = {{{"", 1},
                                                                               {"KiB", 1LL << 10},
                                                                               {"MiB", 1LL << 20},
                                                                               {"GiB", 1LL << 30},
                                                                               {"TiB", 1LL << 40},
                                                                               {"KB", 1000LL},
                                                                               {"MB", 1000000LL},
                                                                               {"GB", 1000000000LL},
                                                                               {"TB", 1000000000000LL}}};
  if (node.is_scalar()) {
    std::string_view unit = node.text;
    bool const whole = take_whole(unit);
    std::string_view const number = std::string_view(node.text).substr(0, node.text.size() - unit.size());
    bool const bare = unit.empty();
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    auto const known =
        std::find_if(units.begin(), units.end(), [&](auto const& u) { return u.first == unit; });
    std::optional<std::int64_t> const value = convert<std::int64_t>(number);
    std::int64_t bytes = 0;
    if (whole && value && known != units.end() && unit.empty() == bare && !(bare && node.quoted) &&
        !__builtin_mul_overflow(*value, known->second, &bytes) && bytes > 0) {
      return static_cast<double>(bytes);
    }
  }
  fail_found(node, path,
             "auto, or bytes above 0 as a whole number, alone or with KiB, MiB, GiB, TiB, KB, MB, GB or TB");
}

std::string read_text_value(Node const& node, std::string_view path) {
  auto const is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (!node.is_scalar() || node.text.empty() || std::any_of(node.text.begin(), node.text.end(), is_control)) {
    fail_found(node, path, "text on one line");
  }
  return node.text;
}

std::size_t read_word(Node const& node, std::string_view path, std::vector<std::string> const& words) {
  auto const known = node.is_scalar() ? std::find(words.begin(), words.end(), node.text) : words.end();
  if (known != words.end()) return static_cast<std::size_t>(known - words.begin());
  std::string const near = node.is_scalar() ? suggestion(node.text, words) : "";
  fail(node.at, path, fmt::format("found {}{}; allowed: {}", describe(node), near, join(words)));
}

bool is_word(Node const& node, std::string_view word) { return node.is_scalar() && node.text == word; }

}  // namespace flashpad::yaml
