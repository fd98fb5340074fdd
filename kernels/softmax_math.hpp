// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

#include <cmath>

namespace flashpad {

/// exp by the standard's name, which host and device compilers both find; Kokkos 3 has none of its own.
template <class T>
KOKKOS_FUNCTION T exp_of(T x) {
  using std::exp;
  return exp(x);
}

/// The log-sum-exp of a row. A sum of 0 is a row that saw no key: its LSE is -infinity, and so is its
/// maximum.
template <class T>
KOKKOS_FUNCTION T log_sum_exp(T max, T sum) {
  using std::log;
  return sum == 0 ? max : max + log(sum);
}

}  // namespace flashpad
