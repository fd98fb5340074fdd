// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/error.hpp>

#include "kernels/engines/host_engines.hpp"
#include "kernels/engines/host_levels.hpp"
#include "kernels/engines/host_tables.hpp"
#include "problem/text.hpp"

namespace flashpad::engines {

namespace {

/// One row for each engine and instruction set, best first. To add one: its file, and a row here.
struct Entry {
  char const* name;
  bool (*supported)();
  HostTables (*tables)();  ///< a table whose `engine` is null: a type that this engine does not multiply
};

bool always() { return true; }
constexpr Entry entries[] = {
#ifdef FLASHPAD_HAS_LEVEL_avx512_bf16
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

bool serves(HostTables const& tables, DType dtype) {
  switch (dtype) {
    case DType::fp64: return tables.fp64.engine != nullptr;
    case DType::fp32: return tables.fp32.engine != nullptr;
    case DType::fp16: return tables.fp16.engine != nullptr;
    case DType::bf16: return tables.bf16.engine != nullptr;
  }
  return false;
}

bool is_portable(Entry const& entry) { return std::string(entry.name).rfind("portable-", 0) == 0; }

HostTables tables_of(std::string const& engine, DType dtype) {
  for (Entry const& entry : entries) {
    bool const asked = engine.empty() || engine == entry.name || (engine == "portable" && is_portable(entry));
    if (!asked || !entry.supported()) continue;
    HostTables const tables = entry.tables();
    if (serves(tables, dtype)) return tables;
  }
  throw Error(detail::text("engine: `", engine, "` is not available here in ", name(dtype),
                           "; available: ", detail::joined(host_engine_names(dtype))));
}

}  // namespace

std::vector<std::string> host_engine_names(DType dtype) {
  std::vector<std::string> names;
  bool portable = false;
  for (Entry const& entry : entries) {
    if (!entry.supported() || !serves(entry.tables(), dtype)) continue;
    if (is_portable(entry) && !portable) {
      names.emplace_back("portable");
      portable = true;
    }
    names.emplace_back(entry.name);
  }
  return names;
}

template <>
HostTable<double> host_table<double>(std::string const& engine, DType dtype) {
  return tables_of(engine, dtype).fp64;
}

template <>
HostTable<float> host_table<float>(std::string const& engine, DType dtype) {
  HostTables const tables = tables_of(engine, dtype);
  return dtype == DType::fp16 ? tables.fp16 : dtype == DType::bf16 ? tables.bf16 : tables.fp32;
}

}  // namespace flashpad::engines
