// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>
#include <flashpad/types.hpp>

#include "problem/text.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::engines {

inline bool always() { return true; }

/// The host engines of one sort, best first: Tables has a table fp64, fp32, fp16 and bf16, whose `engine` is
/// null for a type that the engine does not multiply. `family` names all engines that begin with it and a
/// dash, and stands for the best of them.
template <class Tables>
class EngineRegistry {
 public:
  struct Entry {
    char const* name;
    bool (*supported)();
    Tables (*tables)();
  };

  constexpr EngineRegistry(std::string_view family, std::span<Entry const> entries)
      : m_family(family), m_entries(entries) {}

  /// Those of this machine, a family before its first member.
  [[nodiscard]] std::vector<std::string> names(DType dtype) const {
    std::vector<std::string> names;
    bool family = false;
    for (Entry const& entry : m_entries) {
      if (!serves(entry, dtype)) continue;
      if (in_family(entry) && !family) {
        names.emplace_back(m_family);
        family = true;
      }
      names.emplace_back(entry.name);
    }
    return names;
  }

  /// The best engine's where `engine` is empty. Throws Error, naming those available, where there is none.
  [[nodiscard]] Tables tables(std::string const& engine, DType dtype) const {
    for (Entry const& entry : m_entries) {
      bool const asked = engine.empty() || engine == entry.name || (engine == m_family && in_family(entry));
      if (asked && serves(entry, dtype)) return entry.tables();
    }
    throw Error(detail::text("engine: `", engine, "` is not available here in ", name(dtype),
                             "; available: ", detail::joined(names(dtype))));
  }

 private:
  [[nodiscard]] bool in_family(Entry const& entry) const {
    return std::string_view(entry.name).starts_with(std::string(m_family) + "-");
  }

  [[nodiscard]] static bool serves(Entry const& entry, DType dtype) {
    if (!entry.supported()) return false;
    Tables const tables = entry.tables();
    switch (dtype) {
      case DType::fp64: return tables.fp64.engine != nullptr;
      case DType::fp32: return tables.fp32.engine != nullptr;
      case DType::fp16: return tables.fp16.engine != nullptr;
      case DType::bf16: return tables.bf16.engine != nullptr;
    }
    return false;
  }

  std::string_view m_family;
  std::span<Entry const> m_entries;
};

/// The table of a type that is multiplied in float.
template <class Tables>
auto float_table(Tables const& tables, DType dtype) {
  return dtype == DType::fp16 ? tables.fp16 : dtype == DType::bf16 ? tables.bf16 : tables.fp32;
}

}  // namespace flashpad::engines
