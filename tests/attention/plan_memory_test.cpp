// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/attention.hpp>

#include "kokkos_ext/execution.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace flashpad {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;

double bytes_a_thread(Shape const& shape, DType dtype, Options const& options = {}) {
  Exec const exec;
  Choice const choice = Plan<Exec>(exec, shape, dtype, options).choice();
  return choice.workspace_bytes / kokkos_ext::concurrency(exec) + choice.scratch_bytes;
}

TEST(PlanMemory, OfTheHostIsBelowFourMiBAThreadWhateverTheLength) {
  constexpr double most = 4.0 * 1024 * 1024;
  double largest = 0;
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    for (std::int64_t const dim : {64, 128, 256}) {
      for (std::int64_t const seq_k : {512, 8192, 131072, 16777216}) {
        for (std::int64_t const seq_q : {std::int64_t{1}, std::int64_t{16}, std::int64_t{17}, seq_k}) {
          for (auto const& [heads, kv_heads] : {std::pair{1, 1}, {8, 8}, {8, 1}, {128, 1}, {64, 8}}) {
            double const bytes = bytes_a_thread({1, heads, kv_heads, seq_q, seq_k, dim, dim}, dtype);
            EXPECT_LT(bytes, most) << name(dtype) << ", dim " << dim << ", " << seq_q << " x " << seq_k
                                   << ", " << heads << "/" << kv_heads << " heads";
            largest = std::max(largest, bytes);
          }
        }
      }
    }
  }
  EXPECT_GT(largest, 64.0 * 1024) << "the plans say nothing of their memory";
}

}  // namespace
}  // namespace flashpad
