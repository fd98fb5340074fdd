// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include "problem/text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace flashpad::detail {

/// One row of what was measured: the kernel that was fastest up to this head dimension on GPUs of one
/// generation.
struct MeasuredChoice {
  std::int64_t most_dim;
  Kernel kernel;
  char const* lead;  ///< with the sizes at which it was measured
};

/// For 16-bit types on compute capability 9.0; the first row that fits holds. bf16 on an H200
/// (docs/hopper.md, "What auto takes"): `hopper` was ahead at every size, by least at d = 32.
inline constexpr MeasuredChoice measured_on_hopper[] = {
    {32, Kernel::hopper, "1.2 to 1.6 times fused at d = 32, 128, 1k and 8k keys"},
    {64, Kernel::hopper, "1.5 to 2.0 times fused at d = 64, 128 to 16k keys"},
    {128, Kernel::hopper, "1.3 to 2.5 times fused at d = 96 and 128, 128 to 16k keys"},
    {256, Kernel::hopper, "1.7 to 3.9 times fused at d = 192 and 256, 128 to 8k keys"},
};

/// The row that holds for a call; null where none does.
inline MeasuredChoice const* measured_choice(Shape const& s) {
  auto const* const row = std::find_if(
      std::begin(measured_on_hopper), std::end(measured_on_hopper),
      [&](MeasuredChoice const& each) { return std::max(s.head_dim, s.value_dim) <= each.most_dim; });
  return row == std::end(measured_on_hopper) ? nullptr : row;
}

/// What was measured; no ratio for calls of a kind that was not timed.
inline std::string lead_of(MeasuredChoice const& row, Shape const& s, Mask const& mask, DType dtype) {
  bool const bf16 = dtype == DType::bf16 && s.head_dim == s.value_dim;
  if (bf16 && s.seq_q == s.seq_k && s.heads == s.kv_heads && s.seq_k >= 128 && s.seq_k <= 16384 &&
      (mask.is_none() || mask.is_causal()))
    return text("measured ", row.lead);
  if (bf16 && s.seq_q <= 16 && s.seq_k >= 4096 && s.seq_k <= 131072 && s.heads == 64 && s.kv_heads == 8 &&
      (s.head_dim == 64 || s.head_dim == 128) && mask.is_none() && s.batch * s.seq_k == 131072)
    return "measured 6.5 to 10.8 times fused in decoding";
  return text(name(row.kernel), " by what was measured in bf16, equal heads, seq_q = seq_k; not timed here");
}

/// What `auto` says where hopper takes the call.
inline std::string why_hopper(std::string const& lead, std::string_view engine) {
  return text("auto: hopper", lead.empty() ? "" : ", ", lead, "; fused (", engine,
              ") takes calls with tensors that hopper's copy engine cannot address");
}

}  // namespace flashpad::detail
