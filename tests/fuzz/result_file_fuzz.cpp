// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/file.hpp"
#include "result_file/result_file.hpp"

#include <flashpad/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

using flashpad::test::require;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  try {
    flashpad::results::ResultFile const results = flashpad::results::parse(text, "fuzz");
    require(!results.format.empty(), "a file of no format");
    require(!results.entries.empty() || !results.searches.empty(), "a file without rows");
    require(results.entries.size() <= flashpad::results::most_rows, "more rows than are allowed");
  } catch (flashpad::Error const& error) {
    flashpad::test::require_one_line(error.what());
  }
  return 0;
}
