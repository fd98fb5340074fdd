// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/memory.hpp"

#include <algorithm>
#include <cmath>

namespace flashpad::model {

namespace {

double padded(double bytes) { return std::ceil(bytes / tensor_alignment) * tensor_alignment; }

}  // namespace

Footprint footprint(Kernel kernel, Work const& work) {
  Shape const& s = work.shape;
  auto const real = [](std::int64_t value) { return static_cast<double>(value); };
  double const q = real(s.batch) * real(s.heads) * real(s.seq_q) * real(s.head_dim);
  double const keys = real(s.batch) * real(s.kv_heads) * real(s.seq_k);
  double const k = keys * real(s.head_dim);
  double const v = keys * real(s.value_dim);
  double const rows = real(s.batch) * real(s.heads) * real(s.seq_q);
  double const o = kernel == Kernel::stats ? 0 : rows * real(s.value_dim);
  double const numbers_a_row = kernel == Kernel::stats ? 2 : 1;
  double const element = size_of(work.dtype);

  Footprint need;
  need.elements = element * (q + k + v);
  need.inputs = padded(element * q) + padded(element * k) + padded(element * v);
  need.outputs = element * o + score_bytes(work.dtype) * rows * numbers_a_row;
  // O is fetched twice (as verified, as timed), and held in float64 as expected and while it is searched.
  need.driver = (8 + element) * (q + k + v) + (2 * element + 16) * o + 32 * rows;
  need.workspace_min = stores_scores(kernel) ? naive_workspace_min(kernel, work) : 0;
  return need;
}

Fit fit(Footprint const& need, Memory const& memory, std::int64_t copies_wanted) {
  // Where the kernel's data lives, and what else lives there.
  double const room = memory.device ? *memory.device : memory.host;
  double const fixed = need.outputs + (memory.device ? 0 : need.driver);
  Fit result;
  result.needed = fixed + need.inputs + need.workspace_min;
  if (memory.device && need.driver > memory.host) {
    result.needed = std::max(result.needed, need.driver);
    return result;
  }
  if (result.needed > room) return result;
  result.fits = true;
  double const spare = room - result.needed;
  auto const more =
      need.inputs > 0 ? std::min(spare / need.inputs, static_cast<double>(copies_wanted - 1)) : 0.0;
  result.copies = 1 + static_cast<std::int64_t>(std::max(more, 0.0));
  result.workspace = room - fixed - static_cast<double>(result.copies) * need.inputs;
  return result;
}

std::int64_t copies_past_cache(double inputs, double last_level_cache) {
  if (inputs <= 0) return 1;
  return static_cast<std::int64_t>(std::floor(2 * last_level_cache / inputs)) + 1;
}

}  // namespace flashpad::model
