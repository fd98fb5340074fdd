// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/streams.hpp"

#include <Kokkos_Core.hpp>

#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Without Kokkos: the advice that it prints as it starts would be taken for names of tests.
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  if (flashpad::kokkos_ext::device_count() == 0) {  // Kokkos would end the program
    std::puts("SKIPPED: this Kokkos needs a GPU, and there is none here");
    return 77;
  }
#endif
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
