// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/error.hpp>

#include "kernels/engines/host_engines.hpp"
#include "kernels/engines/portable.hpp"
#include "problem/text.hpp"

namespace flashpad::engines {

namespace {

/// One row for each engine and instruction set, best first. To add one: its file, and a row here.
struct Entry {
  char const* name;
  bool (*supported)();
  PortableTables (*tables)();
};

bool always() { return true; }
// The features of the x86-64 levels that matter, one by one: older compilers do not know the levels' names.
// Processors with these have the rest of the level.
#ifdef FLASHPAD_HAS_LEVEL_v3
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
#endif
#ifdef FLASHPAD_HAS_LEVEL_v4
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

constexpr Entry entries[] = {
#ifdef FLASHPAD_HAS_LEVEL_v4
    {"portable-v4", has_v4, portable_tables_v4},
#endif
#ifdef FLASHPAD_HAS_LEVEL_v3
    {"portable-v3", has_v3, portable_tables_v3},
#endif
    {"portable-baseline", always, portable_tables_baseline},
};

PortableTables tables_of(std::string const& engine) {
  for (Entry const& entry : entries) {
    if ((engine == "portable" || engine == entry.name) && entry.supported()) return entry.tables();
    if (engine == entry.name) {
      throw Error(detail::text("engine: this processor cannot run `", engine,
                               "`; available: ", detail::joined(host_engine_names())));
    }
  }
  throw Error(detail::text("engine: `", engine,
                           "` is not known here; available: ", detail::joined(host_engine_names())));
}

}  // namespace

std::vector<std::string> host_engine_names() {
  std::vector<std::string> names = {"portable"};
  for (Entry const& entry : entries) {
    if (entry.supported()) names.emplace_back(entry.name);
  }
  return names;
}

template <>
HostTable<double> host_table<double>(std::string const& engine, DType) {
  return tables_of(engine).fp64;
}

template <>
HostTable<float> host_table<float>(std::string const& engine, DType dtype) {
  PortableTables const tables = tables_of(engine);
  return dtype == DType::fp16 ? tables.fp16 : dtype == DType::bf16 ? tables.bf16 : tables.fp32;
}

}  // namespace flashpad::engines
