// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/hopper.hpp"
#include "kernels/hopper/params.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace flashpad::hopper {

/// Sections of as many heads as keep their K and V in a part of the second-level cache, whose halves each
/// hold what both read. Under a mask, where items differ, the last section has enough of them to even out,
/// for its first ones are as heavy as any.
///
/// The sizes were measured (docs/hopper.md, version 9), but for packed tiles under a mask, which are as they
/// were before: 8 MB up to 8k keys, above that all heads together. There a head is one item, or the parts of
/// one, and each key is read once whatever the order.
inline void set_sections(HopperCall const& call, bool packed, HopperSchedule& schedule) {
  Shape const& s = call.shape;
  bool const masked = !call.mask.is_none();
  bool const longer = s.seq_k > 8192;
  double const all = schedule.all_heads;
  std::int64_t const group = s.heads / s.kv_heads;
  double const head_bytes =
      2.0 * static_cast<double>(s.seq_k * (s.head_dim + s.value_dim)) / static_cast<double>(group);
  double const cached = (packed && !masked ? s.seq_k > 1024 : masked && longer) ? 17e6 : 8e6;
  double const evened = packed && longer ? all : std::ceil(3.0 * call.multiprocessors / schedule.query_tiles);
  schedule.tail = masked ? static_cast<int>(std::min(all, evened)) : 0;
  double const early = all - schedule.tail;
  double const sections = std::ceil(early / std::max(1.0, cached / std::max(head_bytes, 1.0)));
  schedule.section = static_cast<int>(std::max(1.0, std::ceil(early / std::max(1.0, sections))));
}

}  // namespace flashpad::hopper
