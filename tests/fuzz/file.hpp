// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fuzz/require.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace flashpad::test {

/// A file in memory, for a reader that takes a path.
class File {
 public:
  File(std::uint8_t const* data, std::size_t size) : m_descriptor(memfd_create("fuzz", 0)) {
    require(m_descriptor >= 0, "no file in memory");
    while (size > 0) {
      ssize_t const written = write(m_descriptor, data, size);
      require(written > 0, "the file in memory cannot be written");
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  File(File const&) = delete;
  File& operator=(File const&) = delete;
  ~File() { close(m_descriptor); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(m_descriptor); }

 private:
  int m_descriptor;
};

/// A message is one line.
inline void require_one_line(std::string const& message) {
  require(!message.empty() && message.find('\n') == std::string::npos, "a message that is not one line");
}

}  // namespace flashpad::test
