// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace flashpad::kokkos_ext {

/// A named stretch of the program, which Kokkos' tools see around the kernels that are launched in it.
class Region {
 public:
  explicit Region(std::string const& name);
  Region(Region const&) = delete;
  Region& operator=(Region const&) = delete;
  ~Region();
};

}  // namespace flashpad::kokkos_ext
