// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/attention.hpp>

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

// A program of its own: Kokkos is never initialised in it.

namespace flashpad {
namespace {

void make_a_plan() {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  try {
    Exec const exec{};
    Plan<Exec> const plan(exec, {1, 1, 1, 8, 8, 16, 16}, DType::fp32);
    std::fputs("accepted\n", stderr);
  } catch (Error const& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::exit(0);
}

TEST(Plan, NeedsAnInitialisedKokkos) {
  // Kokkos 5 ends the program where an instance is made too early; before it one of a host backend can be.
  auto const either = [](int) { return true; };
  EXPECT_EXIT(
      make_a_plan(), either,
      testing::AnyOf("Kokkos: not initialised; call Kokkos::initialize before making a flashpad::Plan\n",
                     testing::HasSubstr("is being constructed before initialize()")));
}

}  // namespace
}  // namespace flashpad
