// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/require.hpp"
#include "tensor_file/npy.hpp"

#include <flashpad/error.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using flashpad::test::require;

/// A file in memory, for a reader that takes a path.
class File {
 public:
  File(std::uint8_t const* data, std::size_t size) : m_descriptor(memfd_create("fuzz.npy", 0)) {
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

}  // namespace

// The first byte is the rank asked for, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  int const rank = data[0] % 8;
  File const file(data + 1, size - 1);
  try {
    flashpad::NpyArray const array = flashpad::read_npy(file.path(), rank);
    require(static_cast<int>(array.shape.size()) == rank, "another rank than was asked for");
    std::uint64_t bytes = static_cast<std::uint64_t>(flashpad::size_of(array.dtype));
    for (std::int64_t const extent : array.shape) {
      require(extent >= 0, "a negative extent");
      bytes *= static_cast<std::uint64_t>(extent);
    }
    require(array.data.size() == bytes && bytes < size, "elements that are not in the file");
  } catch (flashpad::Error const& error) {
    std::string const message = error.what();
    require(!message.empty() && message.find('\n') == std::string::npos, "a message that is not one line");
  }
  return 0;
}
