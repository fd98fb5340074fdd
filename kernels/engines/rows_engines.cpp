// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/rows_engines.hpp"

#include "kernels/engines/engine_registry.hpp"
#include "kernels/engines/host_levels.hpp"

#include <string_view>

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

/// How K and V are best asked for depends on the processor, not on what multiplies. Those with AMX (measured
/// on an Intel Xeon, GB/s of one core, d = 64 / 128, before and after): float32 by one row 13.3 / 15.5
/// and 18.1 / 19.3, by eight 14.2 / 14.0 and 15.3 / 14.7; fp16 by one 11.5 / 15.2 and 16 / 17.7, by
/// eight 11.3 / 11.8 and 12.6 / 11.8; bf16 by one 15.5 / 14.1 and 16.3 / 16.
template <class T>
RowsTable<T> for_this_processor(RowsTable<T> table, bool tiles) {
  if (has_level_amx_bf16()) {
    table.least_ahead = 1;
    table.lead_bytes = 4096;
    table.far_bytes = 2048;
    table.few_rows_tile = 128;
    table.more_rows_tile = tiles ? 64 : 32;
  }
  return table;
}

}  // namespace

std::vector<std::string> rows_engine_names(DType dtype) { return registry.names(dtype); }

bool is_rows_engine(std::string const& engine) { return engine.starts_with("rows"); }

template <>
RowsTable<double> rows_table<double>(std::string const& engine, DType dtype) {
  return for_this_processor(registry.tables(engine, dtype).fp64, false);
}

template <>
RowsTable<float> rows_table<float>(std::string const& engine, DType dtype) {
  RowsTable<float> const table = float_table(registry.tables(engine, dtype), dtype);
  return for_this_processor(table, table.engine == std::string_view("rows-amx-bf16"));
}

template <class T>
RowsTable<T> rows_table(std::string const& engine, DType dtype, std::int64_t rows) {
  if (engine == "rows") {
    for (std::string const& name : registry.names(dtype)) {
      RowsTable<T> const table = rows_table<T>(name, dtype);
      if (rows >= table.least_rows) return table;
    }
  }
  return rows_table<T>(engine, dtype);
}
template RowsTable<double> rows_table<double>(std::string const&, DType, std::int64_t);
template RowsTable<float> rows_table<float>(std::string const&, DType, std::int64_t);

}  // namespace flashpad::engines
