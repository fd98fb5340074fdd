// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace flashpad::kokkos_ext {

/// Whether an argument is addressed to Kokkos.
bool is_kokkos_flag(std::string const& argument);

/// Throws Error on a --kokkos-* flag that this Kokkos does not know, naming the known ones, and on one with
/// no value where it wants one, or with a value that is no number where it wants a number, or out of range.
/// Kokkos itself passes over the first in silence or with a warning, and aborts on the last.
void check_kokkos_flags(std::vector<std::string> const& flags);

/// Whether one of the flags asks Kokkos for its help, which it prints when it is initialised.
bool asks_for_help(std::vector<std::string> const& flags);

/// Initialises Kokkos with these flags, and finalises it on destruction. Throws Error where Kokkos refuses.
class KokkosGuard {
 public:
  explicit KokkosGuard(std::vector<std::string> const& flags);
  KokkosGuard(KokkosGuard const&) = delete;
  KokkosGuard& operator=(KokkosGuard const&) = delete;
  ~KokkosGuard();
};

}  // namespace flashpad::kokkos_ext
