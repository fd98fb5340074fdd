// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A race that the thread sanitizer has to report: without a report its check would show nothing.
#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::View<int, Kokkos::HostSpace> const count("count");
  Kokkos::parallel_for("race", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 100000),
                       [=](int) { ++count(); });
}
