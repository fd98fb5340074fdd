// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/file.hpp"
#include "result_file/result_file.hpp"

#include <flashpad/error.hpp>

#include <cstddef>
#include <cstdint>

using flashpad::test::require;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  flashpad::test::File const file(data, size);
  try {
    flashpad::results::ResultFile const results = flashpad::results::read(file.path());
    require(!results.format.empty(), "a file of no format");
    require(results.entries.size() <= flashpad::results::most_rows, "more rows than are allowed");
  } catch (flashpad::Error const& error) {
    flashpad::test::require_one_line(error.what());
  }
  return 0;
}
