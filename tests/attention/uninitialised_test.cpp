// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/attention.hpp>

#include <gtest/gtest.h>

#include <string>

// A program of its own: Kokkos is never initialised in it.

namespace flashpad {
namespace {

TEST(Plan, NeedsAnInitialisedKokkos) {
  // An instance of a host backend can be made before initialisation in older releases only; where it cannot,
  // Kokkos itself says so.
  using Exec = Kokkos::DefaultHostExecutionSpace;
  try {
    Exec const exec{};
    Plan<Exec> const plan(exec, {1, 1, 1, 8, 8, 16, 16}, DType::fp32);
    FAIL() << "accepted";
  } catch (Error const& error) {
    EXPECT_EQ(std::string(error.what()),
              "Kokkos: not initialised; call Kokkos::initialize before making a flashpad::Plan");
  }
}

}  // namespace
}  // namespace flashpad
