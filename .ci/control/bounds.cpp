// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element beyond a View's end, within its allocation: Kokkos's bounds checks have to refuse it, or their
// check shows nothing.
#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const rows("rows", 2, 8);
  rows(0, argc + 7) = 1;
}
