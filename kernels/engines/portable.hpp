// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/host_table.hpp"

namespace flashpad::engines {

/// The portable engine's micro-kernels at one processor level, one table for each storage type.
struct PortableTables {
  HostTable<double> fp64;
  HostTable<float> fp32;
  HostTable<float> fp16;
  HostTable<float> bf16;
};

// One function for each level that portable.cpp is compiled for: portable_tables_baseline and so on.
#define FLASHPAD_PORTABLE_TABLES_OF(level) portable_tables_##level
#define FLASHPAD_PORTABLE_TABLES(level) FLASHPAD_PORTABLE_TABLES_OF(level)

PortableTables portable_tables_baseline();
PortableTables portable_tables_v3();
PortableTables portable_tables_v4();

}  // namespace flashpad::engines
