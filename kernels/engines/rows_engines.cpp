// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/rows_engines.hpp"

#include <flashpad/error.hpp>

#include "kernels/engines/host_levels.hpp"
#include "problem/text.hpp"

namespace flashpad::engines {

namespace {

struct Entry {
  char const* name;
  bool (*supported)();
  RowsTables (*tables)();
};

bool always() { return true; }

constexpr Entry entries[] = {
#ifdef FLASHPAD_HAS_LEVEL_avx512_bf16
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

bool serves(Entry const& entry, DType dtype) {
  if (!entry.supported()) return false;
  RowsTables const tables = entry.tables();
  switch (dtype) {
    case DType::fp64: return tables.fp64.level != nullptr;
    case DType::fp32: return tables.fp32.level != nullptr;
    case DType::fp16: return tables.fp16.level != nullptr;
    case DType::bf16: return tables.bf16.level != nullptr;
  }
  return false;
}

RowsTables tables_of(std::string const& engine, DType dtype) {
  for (Entry const& entry : entries) {
    if ((engine == "rows" || engine == entry.name) && serves(entry, dtype)) return entry.tables();
  }
  throw Error(detail::text("engine: `", engine, "` is not available here in ", name(dtype),
                           "; available: ", detail::joined(rows_engine_names(dtype))));
}

}  // namespace

std::vector<std::string> rows_engine_names(DType dtype) {
  std::vector<std::string> names = {"rows"};
  for (Entry const& entry : entries) {
    if (serves(entry, dtype)) names.emplace_back(entry.name);
  }
  return names;
}

bool is_rows_engine(std::string const& engine) { return engine.substr(0, 4) == "rows"; }

template <>
RowsTable<double> rows_table<double>(std::string const& engine, DType dtype) {
  return tables_of(engine, dtype).fp64;
}

template <>
RowsTable<float> rows_table<float>(std::string const& engine, DType dtype) {
  RowsTables const tables = tables_of(engine, dtype);
  return dtype == DType::fp16 ? tables.fp16 : dtype == DType::bf16 ? tables.bf16 : tables.fp32;
}

}  // namespace flashpad::engines
