// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/tools.hpp"

#include <Kokkos_Core.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace flashpad::kokkos_ext {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;

void one_loop() { Kokkos::parallel_for("test::loop", Kokkos::RangePolicy<Exec>(0, 3), KOKKOS_LAMBDA(int){}); }

void one_sum() {
  int sum = 0;
  Kokkos::parallel_reduce(
      "test::sum", Kokkos::RangePolicy<Exec>(0, 3), KOKKOS_LAMBDA(int i, int& s) { s += i; }, sum);
}

TEST(CountLaunches, CountsKernels) {
  EXPECT_EQ(count_launches([] {}), 0);
  EXPECT_EQ(count_launches([] { one_loop(); }), 1);
  EXPECT_EQ(count_launches([] {
              one_loop();
              one_sum();
              one_loop();
            }),
            3);
}

TEST(CountLaunches, CountsProductsOfABlas) {
  EXPECT_EQ(count_launches([] {
              Kokkos::Profiling::pushRegion("KokkosBlas::gemm[TPL_BLAS,float]");
              Kokkos::Profiling::popRegion();
              Kokkos::Profiling::pushRegion("KokkosBlas::gemm[ETI]");  // dispatches kernels, counted as such
              Kokkos::Profiling::popRegion();
            }),
            1);
}

int seen_by_tool = 0;

TEST(CountLaunches, LeavesALoadedToolAlone) {
  namespace tools = Kokkos::Tools::Experimental;
  tools::EventSet const before = tools::get_callbacks();
  tools::set_begin_parallel_for_callback([](char const*, std::uint32_t, std::uint64_t*) { ++seen_by_tool; });
  EXPECT_EQ(count_launches([] { one_loop(); }), 1);
  EXPECT_EQ(seen_by_tool, 1) << "the tool misses what is counted";
  one_loop();
  EXPECT_EQ(seen_by_tool, 2) << "the tool is gone afterwards";
  tools::set_callbacks(before);
}

TEST(CountLaunches, StopsListeningWhenTheWorkThrows) {
  EXPECT_THROW(count_launches([] { throw 1; }), int);
  EXPECT_EQ(count_launches([] { one_loop(); }), 1);
}

}  // namespace
}  // namespace flashpad::kokkos_ext
