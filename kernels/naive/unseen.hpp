// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/arguments.hpp"
#include "kernels/naive/naive_rows.hpp"

#include <cstdint>

// What host code of the naive kernels knows of rows that see no key; apart from naive_rows.hpp, which
// devices' compilers take as C++17.

namespace flashpad {

/// Query rows that see a key, and keys that some row sees: each is a range.
struct SeenRanges {
  KeyRange rows;
  KeyRange keys;

  static SeenRanges make(BandVariant const& variant, std::int64_t seq_q) {
    SeenRanges seen{{0, seq_q}, {}};
    while (seen.rows.begin < seen.rows.end && variant.visible(seen.rows.begin).size() == 0) ++seen.rows.begin;
    while (seen.rows.end > seen.rows.begin && variant.visible(seen.rows.end - 1).size() == 0) --seen.rows.end;
    if (seen.rows.size() > 0) seen.keys = variant.any(seen.rows.begin, seen.rows.end);
    return seen;
  }
};

/// What the rows that see no key get.
template <class Storage, class T, class Exec>
void clear_unseen(Exec const& exec, detail::Arguments const& arguments, Shape const& shape,
                  KeyRange const& seen) {
  std::int64_t const unseen = shape.seq_q - seen.size();
  if (unseen == 0) return;
  std::int64_t const heads = shape.batch * shape.heads;
  ClearRows<Storage, T> clear{
      detail::operand(arguments.o), {}, {0, heads, shape.heads, 1}, seen, shape.value_dim};
  if (arguments.lse.present) clear.lse = detail::operand(arguments.lse);
  for_rows(exec, "flashpad::naive::clear", heads, unseen, clear);
}

}  // namespace flashpad
