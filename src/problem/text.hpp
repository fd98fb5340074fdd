// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace flashpad::detail {

/// All parts in one string. What is compiled for devices builds its messages with this: nvcc does not compile
/// fmt 9.
template <class... Parts>
std::string text(Parts const&... parts) {
  std::ostringstream stream;
  stream.precision(15);
  (stream << ... << parts);
  return stream.str();
}

inline std::string joined(std::vector<std::string> const& names) {
  std::string all;
  for (std::string const& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

}  // namespace flashpad::detail
