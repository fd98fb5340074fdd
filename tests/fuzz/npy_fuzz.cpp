// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/file.hpp"
#include "tensor_file/npy.hpp"

#include <flashpad/error.hpp>

#include <cstddef>
#include <cstdint>

using flashpad::test::require;

// The first byte is the rank asked for, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  int const rank = data[0] % 8;
  flashpad::test::File const file(data + 1, size - 1);
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
    flashpad::test::require_one_line(error.what());
  }
  return 0;
}
