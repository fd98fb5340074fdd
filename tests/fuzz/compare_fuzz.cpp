// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/text.hpp"
#include "fuzz/file.hpp"

#include <flashpad/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using flashpad::test::require;
namespace compare = flashpad::compare;

// What can be read can be compared with itself, by file and by kernel, and shown on a terminal.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  for (char const* by : {"", "kernel"}) {
    try {
      compare::Measurements const file = compare::measurements(flashpad::results::parse(text, "fuzz"));
      compare::Rules rules;
      rules.by = by;
      rules.fail_if_slower = 0;
      std::vector<compare::Measurements> const files = {file, file};
      compare::Comparison const comparison = compare::compare(files, rules);
      std::string const shown = compare::text(files, compare::differences(files), comparison, rules);
      require(shown.find('\x1b') == std::string::npos, "an escape reaches the terminal");
      require(*by != '\0' || compare::broken(comparison, rules).empty(), "a file is slower than itself");
    } catch (flashpad::Error const& error) {
      flashpad::test::require_one_line(error.what());
    }
  }
  return 0;
}
