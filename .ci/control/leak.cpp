// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that nobody can free any more: the leak sanitizer has to report it, or its check shows nothing.
#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  int* volatile lost = new int[static_cast<unsigned>(argc) + 8];
  lost = nullptr;
}
