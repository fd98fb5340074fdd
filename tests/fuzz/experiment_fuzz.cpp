// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/experiment.hpp"
#include "fuzz/file.hpp"

#include <flashpad/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using flashpad::test::require;

// Every accepted experiment is one that the driver could run, whatever the text.
void check(flashpad::Experiment const& experiment) {
  require(!experiment.cases.empty(), "an experiment without cases was accepted");
  require(experiment.timing.repetitions > 0 && experiment.timing.warmup >= 0, "impossible timing");
  std::set<std::string> names;
  for (flashpad::Case const& one : experiment.cases) {
    require(names.insert(one.name).second, "two cases of one name");
    require(one.name.find('/') == std::string::npos, "a case's name is no file name");
    flashpad::validate(one.shape, one.mask);
  }
}

}  // namespace

// The first line, where it starts with "--set ", stands for one such argument of the command line.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string text(reinterpret_cast<char const*>(data), size);
  std::vector<std::string> overrides;
  constexpr char prefix[] = "--set ";
  if (text.starts_with(prefix)) {
    std::size_t const end = std::min(text.find('\n'), text.size());
    overrides.push_back(text.substr(sizeof(prefix) - 1, end - (sizeof(prefix) - 1)));
    text.erase(0, std::min(end + 1, text.size()));
  }
  try {
    check(flashpad::parse_experiment(text, "f.yaml", overrides));
  } catch (flashpad::Error const& error) {
    flashpad::test::require_one_line(error.what());
  }
  return 0;
}
