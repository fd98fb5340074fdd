// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace flashpad::measure {

/// One query row.
struct QueryRow {
  std::int64_t b = 0, h = 0, i = 0;

  friend auto operator<=>(QueryRow const&, QueryRow const&) = default;
};

/// The rows to compare with the reference, in order and without doubles: all of them where that takes at most
/// `budget` multiply-adds, else a fixed sample that fits the budget but never fewer than 64 rows. A sample
/// goes round all heads and batches, and holds the first and the last row, rows around multiples of 64 (where
/// tiles meet), and rows spread evenly over the rest.
std::vector<QueryRow> rows_to_verify(Shape const& shape, double budget = 4e9);

}  // namespace flashpad::measure
