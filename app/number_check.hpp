// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <string>

namespace flashpad::app {

/// A check of CLI11's for options that want a number in these bounds. Its own lets NaN through, and rounds
/// the bounds that it names.
inline std::function<std::string(std::string const&)> number_between(double least, double most) {
  return [least, most](std::string const& text) {
    char* end = nullptr;
    double const value = std::strtod(text.c_str(), &end);
    bool const whole = !text.empty() && *end == '\0';
    if (whole && value >= least && value <= most) return std::string();
    return fmt::format("is `{}`; allowed: a number from {:g} to {:g}", text, least, most);
  };
}

}  // namespace flashpad::app
