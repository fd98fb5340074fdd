// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"

#include <flashpad/error.hpp>

#include <string>
#include <vector>

namespace flashpad::test {

/// The smallest experiment, one case; lines appended to it start at line 2.
inline std::string const smallest = "problem: {seq: 16, head_dim: 64}\n";

inline Experiment parse(std::string const& text, std::vector<std::string> const& overrides = {}) {
  return parse_experiment(text, "f.yaml", overrides);
}

/// The message of the error that the text is refused with, or "accepted".
inline std::string error_of(std::string const& text, std::vector<std::string> const& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (Error const& error) {
    return error.what();
  }
  return "accepted";
}

inline std::vector<std::string> case_names(Experiment const& experiment) {
  std::vector<std::string> names;
  for (Case const& c : experiment.cases) names.push_back(c.name);
  return names;
}

}  // namespace flashpad::test
