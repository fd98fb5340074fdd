// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>
#include <new>
#include <string_view>

namespace flashpad::kokkos_ext {

/// Whether an exception says that memory ran out. Kokkos throws a plain runtime_error for it where a View is
/// made, in words that differ from version to version around these.
inline bool is_allocation_failure(std::exception const& error) {
  return dynamic_cast<std::bad_alloc const*>(&error) != nullptr ||
         std::string_view(error.what()).find("failed to allocate") != std::string_view::npos;
}

}  // namespace flashpad::kokkos_ext
