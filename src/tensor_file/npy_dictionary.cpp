// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_file/npy_dictionary.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace flashpad::npy {

namespace {

[[noreturn]] void malformed(std::string const& what) {
  throw Error("has a malformed header: " + what +
              "; allowed: a dictionary of descr, fortran_order and shape");
}

/// Reads the few Python literals that a header is made of.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : m_text(text) {}

  bool take(std::string_view word) {
    skip_spaces();
    if (!m_text.starts_with(word)) return false;
    m_text.remove_prefix(word.size());
    return true;
  }

  void require(std::string_view word) {
    if (!take(word)) malformed(fmt::format("no '{}' where one has to be", word));
  }

  [[nodiscard]] bool at_end() {
    skip_spaces();
    return m_text.empty();
  }

  std::string string() {
    skip_spaces();
    char const quote = m_text.empty() ? '\0' : m_text.front();
    if (quote != '\'' && quote != '"') malformed("no string where one has to be");
    std::size_t const end = m_text.find(quote, 1);
    if (end == std::string_view::npos) malformed("a string without an end");
    std::string const value(m_text.substr(1, end - 1));
    for (char const c : value) {
      if (c < 0x20 || c > 0x7e || c == '\\') malformed("a string with an unusual character");
    }
    m_text.remove_prefix(end + 1);
    return value;
  }

  std::int64_t extent() {
    skip_spaces();
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(m_text.data(), m_text.data() + m_text.size(), value);
    if (error == std::errc::result_out_of_range) malformed("a size beyond 64 bits");
    if (error != std::errc{}) malformed("no number where one has to be");
    if (value < 0) malformed(fmt::format("the negative size {}", value));
    m_text.remove_prefix(static_cast<std::size_t>(end - m_text.data()));
    return value;
  }

  [[nodiscard]] bool next_is(char c) {
    skip_spaces();
    return m_text.starts_with(c);
  }

 private:
  void skip_spaces() {
    std::size_t const content = m_text.find_first_not_of(" \t\n\r");
    m_text.remove_prefix(content == std::string_view::npos ? m_text.size() : content);
  }

  std::string_view m_text;
};

std::vector<std::int64_t> parse_shape(Scanner& scanner) {
  // NumPy's own limit on the number of axes.
  constexpr std::size_t max_axes = 64;
  std::vector<std::int64_t> shape;
  scanner.require("(");
  while (!scanner.take(")")) {
    if (shape.size() == max_axes) malformed(fmt::format("more than {} axes", max_axes));
    shape.push_back(scanner.extent());
    if (scanner.take(",")) continue;
    // Python reads (3) as a number: a tuple of one has a comma.
    if (shape.size() == 1) malformed("a shape that is no tuple");
    scanner.require(")");
    break;
  }
  return shape;
}

bool parse_boolean(Scanner& scanner) {
  if (scanner.take("True")) return true;
  scanner.require("False");
  return false;
}

}  // namespace

Dictionary parse_dictionary(std::string_view text) {
  Dictionary dictionary;
  std::set<std::string> seen;
  Scanner scanner(text);
  scanner.require("{");
  while (!scanner.take("}")) {
    std::string const key = scanner.string();
    if (!seen.insert(key).second) malformed(fmt::format("the key '{}' twice", key));
    scanner.require(":");
    if (key == "descr") {
      if (scanner.next_is('['))
        throw Error("holds structured elements; allowed: float64, float32 or float16");
      dictionary.descr = scanner.string();
    } else if (key == "fortran_order") {
      dictionary.fortran_order = parse_boolean(scanner);
    } else if (key == "shape") {
      dictionary.shape = parse_shape(scanner);
    } else {
      malformed(fmt::format("the key '{}'", key));
    }
    if (scanner.take(",")) continue;
    scanner.require("}");
    break;
  }
  if (!scanner.at_end()) malformed("text after the dictionary");
  if (seen.size() != 3) malformed("a key is missing");
  return dictionary;
}

}  // namespace flashpad::npy
