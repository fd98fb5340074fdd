// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/host_levels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace flashpad::engines {

#if defined(__x86_64__)
namespace {

/// Clang has no names for these features in __builtin_cpu_supports.
bool has_amx_bf16() {
  constexpr unsigned bf16 = 1u << 22, tiles = 1u << 24;  // leaf 7, edx
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & bf16) != 0 && (d & tiles) != 0;
}

/// Linux saves the tile registers of processes alone that have asked for them; all their threads may use them
/// then.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

}  // namespace
#endif

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

bool has_level_amx_bf16() {
  static bool const has = has_level_avx512_bf16() && has_amx_bf16() && may_use_tiles();
  return has;
}
#else
bool has_level_v3() { return false; }
bool has_level_v4() { return false; }
bool has_level_avx512_bf16() { return false; }
bool has_level_amx_bf16() { return false; }
#endif

}  // namespace flashpad::engines
