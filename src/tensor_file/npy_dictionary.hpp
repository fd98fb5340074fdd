// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::npy {

/// The Python dictionary at the head of a .npy file.
struct Dictionary {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" with its three keys in any order.
/// Throws Error, without the file's name, on anything else; structured types are named as not supported.
Dictionary parse_dictionary(std::string_view text);

}  // namespace flashpad::npy
