// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>
#include <flashpad/types.hpp>

#include <cstdint>
#include <string>

namespace flashpad {

/// Sizes of one attention call. Q is (batch, heads, seq_q, head_dim), K is (batch, kv_heads, seq_k,
/// head_dim), V is (batch, kv_heads, seq_k, value_dim), O is (batch, heads, seq_q, value_dim). Query
/// head h reads key/value head h / (heads / kv_heads).
struct Shape {
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t seq_q = 0;
  std::int64_t seq_k = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;

  // Spelled out: device code, which includes this, is C++17 as well.
  friend constexpr bool operator==(Shape const& a, Shape const& b) {
    return a.batch == b.batch && a.heads == b.heads && a.kv_heads == b.kv_heads && a.seq_q == b.seq_q &&
           a.seq_k == b.seq_k && a.head_dim == b.head_dim && a.value_dim == b.value_dim;
  }
};

/// Which keys a query sees. Aligned bottom-right: with p = i + seq_k - seq_q, query i sees key j when
/// p - left <= j <= p + right. -1 lifts the limit on that side; {-1, 0} is causal; {-1, -1} is no mask.
struct Mask {
  std::int64_t left = -1;
  std::int64_t right = -1;

  static constexpr Mask none() { return {}; }
  static constexpr Mask causal() { return {-1, 0}; }
  static constexpr Mask window(std::int64_t left, std::int64_t right) { return {left, right}; }

  [[nodiscard]] constexpr bool is_none() const { return left < 0 && right < 0; }
  [[nodiscard]] constexpr bool is_causal() const { return left < 0 && right == 0; }

  friend constexpr bool operator==(Mask const& a, Mask const& b) {
    return a.left == b.left && a.right == b.right;
  }
};

/// "none", "causal" or "window[left,right]".
FLASHPAD_EXPORT std::string to_string(Mask const& mask);

/// Throws Error when a size is negative, heads is no multiple of kv_heads, a head dimension is not
/// supported (16 to 256 in steps of 8), or a mask limit is below -1.
FLASHPAD_EXPORT void validate(Shape const& shape, Mask const& mask);

/// Exact number of (query, key) pairs that the mask shows in one head.
FLASHPAD_EXPORT double visible_pairs(Shape const& shape, Mask const& mask);

}  // namespace flashpad
