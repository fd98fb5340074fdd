// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// As GoogleTest's own, but a run of which nothing was left is no success: ctest takes 77 for skipped.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int const result = RUN_ALL_TESTS();
  auto const& tests = *testing::UnitTest::GetInstance();
  bool const all_skipped =
      tests.test_to_run_count() > 0 && tests.skipped_test_count() == tests.test_to_run_count();
  return result == 0 && all_skipped ? 77 : result;
}
