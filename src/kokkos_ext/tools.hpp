// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

namespace flashpad::kokkos_ext {

/// Kernels that `work` dispatches on Kokkos, seen through the callbacks of Kokkos Tools: each parallel_for,
/// parallel_reduce and parallel_scan, and each product that Kokkos Kernels hands to a BLAS (which dispatches
/// nothing on Kokkos but opens a region of a known name). A tool that is loaded sees the work as ever. One
/// thread at a time.
int count_launches(std::function<void()> const& work);

}  // namespace flashpad::kokkos_ext
