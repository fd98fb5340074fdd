// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/types.hpp>

#include "kernels/engines/rows_table.hpp"

#include <string>
#include <vector>

namespace flashpad::engines {

/// Names of the engines for few query rows that this processor can run and that multiply this element type,
/// best first; `rows` is the best.
std::vector<std::string> rows_engine_names(DType dtype);

/// Whether a name is one of these, on some processor.
bool is_rows_engine(std::string const& engine);

/// The table of an engine for a storage type: T is double for fp64 and float for all others. Throws Error on
/// a name that rows_engine_names(dtype) does not list.
template <class T>
RowsTable<T> rows_table(std::string const& engine, DType dtype);

/// Likewise; `rows` is the best for teams of so many.
template <class T>
RowsTable<T> rows_table(std::string const& engine, DType dtype, std::int64_t rows);

}  // namespace flashpad::engines
