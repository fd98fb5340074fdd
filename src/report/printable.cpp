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

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned const byte = byte_at(text, i);
    if (byte < 0x20 || byte == 0x7f) {
      safe += fmt::format("\\x{:02x}", byte);
    } else if (is_upper_control(text, i)) {
      safe += fmt::format("\\x{:02x}\\x{:02x}", byte, byte_at(text, i + 1));
      ++i;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

}  // namespace flashpad::report
