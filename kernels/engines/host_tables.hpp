// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/host_table.hpp"

// What each engine file of the host defines. Only the functions whose file is compiled for the target exist
// (FLASHPAD_HAS_LEVEL_...).

namespace flashpad::engines {

/// An engine's micro-kernels, one table for each storage type; a type that it does not multiply has a table
/// whose `engine` is null.
struct HostTables {
  HostTable<double> fp64;
  HostTable<float> fp32;
  HostTable<float> fp16;
  HostTable<float> bf16;
};

// portable.cpp defines one of these at each level that it is compiled for.
#define FLASHPAD_PORTABLE_TABLES_OF(level) portable_tables_##level
#define FLASHPAD_PORTABLE_TABLES(level) FLASHPAD_PORTABLE_TABLES_OF(level)
HostTables portable_tables_baseline();
HostTables portable_tables_v3();
HostTables portable_tables_v4();

HostTables avx512_bf16_tables();
HostTables amx_bf16_tables();
HostTables amx_bf16x3_tables();

}  // namespace flashpad::engines
