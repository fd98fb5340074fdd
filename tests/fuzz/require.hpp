// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <cstdlib>

namespace flashpad::test {

/// Ends the program, as a fuzzer wants it, where a promise of the code under test is broken.
inline void require(bool kept, char const* broken_promise) {
  if (kept) return;
  std::fprintf(stderr, "%s\n", broken_promise);
  std::abort();
}

}  // namespace flashpad::test
