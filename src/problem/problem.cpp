// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/error.hpp>
#include <flashpad/problem.hpp>

#include "problem/text.hpp"
#include "problem/walk.hpp"

#include <algorithm>

namespace flashpad {

namespace {

constexpr std::int64_t head_dim_step = 8;
constexpr std::int64_t head_dim_min = 16;
constexpr std::int64_t head_dim_max = 256;

void require_size(char const* argument, std::int64_t value) {
  // 2^40 keeps any product of two sizes, and their sum with a window, inside 64 bits.
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  if (value < 0 || value > limit) {
    throw Error(detail::text(argument, ": ", value, " is out of range; allowed: 0 to ", limit));
  }
}

/// Element offsets and counts of teams are 64-bit; what a tensor holds must stay well inside.
void require_count(char const* tensor, std::int64_t batch, std::int64_t heads, std::int64_t rows,
                   std::int64_t columns) {
  double const count = static_cast<double>(batch) * static_cast<double>(heads) *
                       static_cast<double>(std::max<std::int64_t>(rows, 1)) * static_cast<double>(columns);
  if (count > 0x1p60)
    throw Error(detail::text(tensor, ": ", count, " elements are too many; allowed: up to 2^60"));
}

void require_head_dim(char const* argument, std::int64_t value) {
  if (value < head_dim_min || value > head_dim_max || value % head_dim_step != 0) {
    throw Error(detail::text(argument, ": ", value, " is not supported; allowed: ", head_dim_min, " to ",
                             head_dim_max, " in steps of ", head_dim_step));
  }
}

void require_limit(char const* argument, std::int64_t value) {
  if (value < -1) {
    throw Error(
        detail::text(argument, ": ", value, " is not a mask limit; allowed: 0 or more, or -1 for no limit"));
  }
}

}  // namespace

Error::Error(std::string const& message) : std::runtime_error(message) {}
Error::~Error() = default;

OutOfMemory::OutOfMemory(std::string const& message, double bytes_needed)
    : Error(message), m_bytes_needed(bytes_needed) {}
OutOfMemory::~OutOfMemory() = default;

std::string to_string(Mask const& mask) {
  if (mask.is_none()) return "none";
  if (mask.is_causal()) return "causal";
  return detail::text("window[", mask.left, ",", mask.right, "]");
}

void validate(Shape const& shape, Mask const& mask) {
  require_size("batch", shape.batch);
  require_size("heads", shape.heads);
  require_size("kv_heads", shape.kv_heads);
  require_size("seq_q", shape.seq_q);
  require_size("seq_k", shape.seq_k);
  require_head_dim("head_dim", shape.head_dim);
  require_head_dim("value_dim", shape.value_dim);
  if (shape.heads != 0 && (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0)) {
    throw Error(detail::text("kv_heads: ", shape.kv_heads, " does not divide heads = ", shape.heads,
                             "; allowed: a divisor of heads"));
  }
  require_count("q", shape.batch, shape.heads, shape.seq_q, std::max(shape.head_dim, shape.value_dim));
  require_count("k", shape.batch, shape.kv_heads, shape.seq_k, std::max(shape.head_dim, shape.value_dim));
  require_limit("mask.left", mask.left);
  require_limit("mask.right", mask.right);
}

double visible_pairs(Shape const& shape, Mask const& mask) {
  if (mask.is_none()) return static_cast<double>(shape.seq_q) * static_cast<double>(shape.seq_k);
  auto const variant = BandVariant::make(shape.seq_q, shape.seq_k, mask);
  double pairs = 0;
  for (std::int64_t row = 0; row < shape.seq_q; ++row)
    pairs += static_cast<double>(variant.visible(row).size());
  return pairs;
}

}  // namespace flashpad
