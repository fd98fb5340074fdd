// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/rows_engines.hpp"

#include "kernels/engines/engine_registry.hpp"
#include "kernels/engines/host_levels.hpp"

namespace flashpad::engines {

namespace {

/// One row for each engine and instruction set, best first. To add one: its file, and a row here.
constexpr EngineRegistry<RowsTables>::Entry entries[] = {
#ifdef FLASHPAD_HAS_LEVEL_avx512_bf16
    {"rows-amx-bf16", has_level_amx_bf16, rows_tables_amx_bf16},
    {"rows-avx512-bf16", has_level_avx512_bf16, rows_tables_avx512_bf16},
#endif
#ifdef FLASHPAD_HAS_LEVEL_v4
    {"rows-v4", has_level_v4, rows_tables_v4},
#endif
#ifdef FLASHPAD_HAS_LEVEL_v3
    {"rows-v3", has_level_v3, rows_tables_v3},
#endif
    {"rows-baseline", always, rows_tables_baseline},
};
constexpr EngineRegistry<RowsTables> registry("rows", entries);

}  // namespace

std::vector<std::string> rows_engine_names(DType dtype) { return registry.names(dtype); }

bool is_rows_engine(std::string const& engine) { return engine.starts_with("rows"); }

template <>
RowsTable<double> rows_table<double>(std::string const& engine, DType dtype) {
  return registry.tables(engine, dtype).fp64;
}

template <>
RowsTable<float> rows_table<float>(std::string const& engine, DType dtype) {
  return float_table(registry.tables(engine, dtype), dtype);
}

}  // namespace flashpad::engines
