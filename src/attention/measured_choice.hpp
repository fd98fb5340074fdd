// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include "problem/text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

namespace flashpad::detail {

/// One row of what was measured: the kernel that was fastest up to these sizes on GPUs of one generation.
struct MeasuredChoice {
  std::int64_t most_dim;
  std::int64_t most_keys;
  Kernel kernel;
  char const* lead;
};

/// For 16-bit types on compute capability 9.0; the first row that fits holds. bf16 on an H200, with d from 32
/// to 256, as many queries as keys, from 128 to 8192, full and causal, 16384 tokens and one batch entry; and
/// decoding (docs/hopper.md, "What auto takes").
inline constexpr MeasuredChoice measured_on_hopper[] = {
    {32, 128, Kernel::fused, "fused 1.05 to 1.16 times hopper up to d = 32 and 128 keys"},
    {256, std::numeric_limits<std::int64_t>::max(), Kernel::hopper, "0.93 to 3.7 times fused"},
};

/// The row that holds for a shape; null where none does.
inline MeasuredChoice const* measured_choice(Shape const& s) {
  auto const* const row = std::find_if(
      std::begin(measured_on_hopper), std::end(measured_on_hopper), [&](MeasuredChoice const& each) {
        return std::max(s.head_dim, s.value_dim) <= each.most_dim && s.seq_k <= each.most_keys;
      });
  return row == std::end(measured_on_hopper) ? nullptr : row;
}

/// What was measured; no ratio where queries and keys differ in number, but in decoding.
inline std::string lead_of(MeasuredChoice const& row, Shape const& s) {
  if (s.seq_q == s.seq_k) return text("measured ", row.lead);
  if (row.kernel != Kernel::hopper) return "fused by what was measured where seq_q = seq_k; not timed here";
  if (s.seq_q <= 16 && s.seq_k >= 4096) return "measured 6.4 to 10.8 times fused in decoding";
  return "not timed beside fused where seq_q is not seq_k";
}

/// What `auto` says where hopper takes the call.
inline std::string why_hopper(MeasuredChoice const* row, Shape const& s, std::string_view engine) {
  return text("auto: hopper", row != nullptr ? ", " : "", row != nullptr ? lead_of(*row, s) : "", "; fused (",
              engine, ") takes calls with tensors that hopper's copy engine cannot address");
}

}  // namespace flashpad::detail
