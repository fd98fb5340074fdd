// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/host_engines.hpp"

#include "kernels/engines/engine_registry.hpp"
#include "kernels/engines/host_levels.hpp"
#include "kernels/engines/host_tables.hpp"

namespace flashpad::engines {

namespace {

/// One row for each engine and instruction set, best first. To add one: its file, and a row here.
constexpr EngineRegistry<HostTables>::Entry entries[] = {
#ifdef FLASHPAD_HAS_LEVEL_avx512_bf16
    {"amx-bf16", has_level_amx_bf16, amx_bf16_tables},
    {"amx-bf16x3", has_level_amx_bf16, amx_bf16x3_tables},
    {"avx512-bf16", has_level_avx512_bf16, avx512_bf16_tables},
#endif
#ifdef FLASHPAD_HAS_LEVEL_v4
    {"portable-v4", has_level_v4, portable_tables_v4},
#endif
#ifdef FLASHPAD_HAS_LEVEL_v3
    {"portable-v3", has_level_v3, portable_tables_v3},
#endif
    {"portable-baseline", always, portable_tables_baseline},
};
constexpr EngineRegistry<HostTables> registry("portable", entries);

}  // namespace

std::vector<std::string> host_engine_names(DType dtype) { return registry.names(dtype); }

template <>
HostTable<double> host_table<double>(std::string const& engine, DType dtype) {
  return registry.tables(engine, dtype).fp64;
}

template <>
HostTable<float> host_table<float>(std::string const& engine, DType dtype) {
  return float_table(registry.tables(engine, dtype), dtype);
}

}  // namespace flashpad::engines
