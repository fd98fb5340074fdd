// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/source_text.hpp"

#include "experiment/diagnostics.hpp"
#include "report/files.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace flashpad::yaml {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string with_plain_line_ends(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      plain += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      plain += '\n';
    }
  }
  if (!plain.ends_with('\n')) plain += '\n';
  return plain;
}

/// Bytes of the UTF-8 character at the start of `text`, 0 where there is none: overlong forms, surrogates
/// and what lies beyond U+10FFFF are none.
std::size_t character_size(std::string_view text) {
  auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  unsigned const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const size = first >= 0xc2 && first <= 0xdf   ? 2
                           : (first & 0xf0U) == 0xe0        ? 3
                           : first >= 0xf0 && first <= 0xf4 ? 4
                                                            : 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  unsigned const second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return size;
}

void check_line(std::string_view line, Location const& where) {
  auto const fail_at = [&](std::size_t index, std::string const& message) {
    Location at = where;
    if (at.line != 0) at.column = static_cast<int>(index) + 1;
    fail(at, "", message);
  };
  for (std::size_t i = 0; i < line.size();) {
    std::size_t const size = character_size(line.substr(i));
    auto const byte = static_cast<unsigned char>(line[i]);
    if (size == 0) fail_at(i, fmt::format("found the byte 0x{:02x}; allowed: text in UTF-8", byte));
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
      fail_at(i, fmt::format("found the control character 0x{:02x}; allowed: text in UTF-8", byte));
    }
    i += size;
  }
  std::size_t const content = line.find_first_not_of(" \t");
  if (content == std::string_view::npos || line[content] == '#') return;
  std::size_t const tab = line.substr(0, content).find('\t');
  if (tab != std::string_view::npos) fail_at(tab, "found a tab as indentation; allowed: spaces");
  if (line[0] == '%') fail_at(0, "found a YAML directive; allowed: a document without directives");
}

}  // namespace

std::string checked_text(std::string const& text, Location const& start) {
  if (text.size() > max_bytes) {
    fail({start.source, 0, 0}, "",
         fmt::format("found {} bytes; allowed: at most {}", text.size(), max_bytes));
  }
  bool const has_mark = text.starts_with(byte_order_mark);
  std::string plain =
      with_plain_line_ends(std::string_view(text).substr(has_mark ? byte_order_mark.size() : 0));
  Location where = start;
  for (std::size_t begin = 0; begin < plain.size();) {
    std::size_t const end = std::min(plain.find('\n', begin), plain.size());
    check_line(std::string_view(plain).substr(begin, end - begin), where);
    if (where.line != 0) ++where.line;
    begin = end + 1;
  }
  // yaml-cpp takes the end of its input for a closing quote, but not the end of a document.
  return plain + "...\n";
}

std::string read_text(std::string const& file) {
  std::string const name = printable(file, file.size());
  std::error_code error;
  std::filesystem::file_status const status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::none) {  // links that lead to each other, say
    throw Error(fmt::format("{}: cannot be read: {}; allowed: a YAML file that describes an experiment", name,
                            error.message()));
  }
  if (!std::filesystem::exists(status)) {
    throw Error(fmt::format("{}: no such file; allowed: a YAML file that describes an experiment", name));
  }
  if (std::filesystem::is_directory(status)) {
    throw Error(fmt::format("{}: is a folder; allowed: a YAML file that describes an experiment", name));
  }
  if (report::waits_for_writer(file)) {
    throw Error(fmt::format("{}: is a FIFO; allowed: a YAML file that describes an experiment", name));
  }
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  // One byte more than allowed tells a file that is too long from one that just fits, a pipe included.
  std::string text(max_bytes + 1, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) {
    throw Error(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > max_bytes) {
    throw Error(fmt::format("{}: is longer than {} bytes; allowed: at most {}", name, max_bytes, max_bytes));
  }
  return text;
}

}  // namespace flashpad::yaml
