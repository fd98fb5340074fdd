// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/host_levels.hpp"

namespace flashpad::engines {

// The features of the x86-64 levels that matter, one by one: older compilers do not know the levels' names.
// Processors with these have the rest of the level.
#if defined(__x86_64__)
bool has_level_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

bool has_level_v4() {
  return has_level_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
bool has_level_avx512_bf16() { return has_level_v4() && __builtin_cpu_supports("avx512bf16"); }
#else
bool has_level_v3() { return false; }
bool has_level_v4() { return false; }
bool has_level_avx512_bf16() { return false; }
#endif

}  // namespace flashpad::engines
