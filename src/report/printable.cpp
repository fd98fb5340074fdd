// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/printable.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace flashpad::report {

namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

// U+0080 to U+009F are commands too: two bytes in UTF-8.
bool is_upper_control(std::string_view text, std::size_t i) {
  return byte_at(text, i) == 0xc2 && byte_at(text, i + 1) >= 0x80 && byte_at(text, i + 1) < 0xa0;
}

// Marks that turn the direction of what follows, and breaks of a line: U+200E, U+200F, U+2028 to U+202E and
// U+2066 to U+2069, three bytes each.
bool is_direction_or_break(std::string_view text, std::size_t i) {
  unsigned const last = byte_at(text, i + 2);
  if (byte_at(text, i) != 0xe2) return false;
  if (byte_at(text, i + 1) == 0x81) return last >= 0xa6 && last <= 0xa9;
  return byte_at(text, i + 1) == 0x80 && (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned const byte = byte_at(text, i);
    std::size_t const bytes = byte < 0x20 || byte == 0x7f      ? 1
                              : is_upper_control(text, i)      ? 2
                              : is_direction_or_break(text, i) ? 3
                                                               : 0;
    for (std::size_t b = 0; b < bytes; ++b) safe += fmt::format("\\x{:02x}", byte_at(text, i + b));
    if (bytes == 0) {
      safe += text[i];
    } else {
      i += bytes - 1;
    }
  }
  return safe;
}

}  // namespace flashpad::report
