// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/counts.hpp"

#include <flashpad/error.hpp>

#include "problem/walk.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace flashpad::model {

namespace {

struct Sizes {
  double batch, heads, kv_heads, seq_q, seq_k, head_dim, value_dim, element, score;
};

Sizes sizes(Work const& work) {
  Shape const& s = work.shape;
  auto const real = [](std::int64_t value) { return static_cast<double>(value); };
  return {
      real(s.batch),          real(s.heads),    real(s.kv_heads),  real(s.seq_q),
      real(s.seq_k),          real(s.head_dim), real(s.value_dim), static_cast<double>(size_of(work.dtype)),
      score_bytes(work.dtype)};
}

void require_concrete(Kernel kernel) {
  if (kernel == Kernel::automatic) {
    throw Error("kernel: auto has no operation or byte count; allowed: the kernel that it chose");
  }
}

// Keys that a query tile reads, summed over the query tiles of one head.
double keys_visited(Work const& work, Tile tile) {
  Shape const& s = work.shape;
  auto const variant = BandVariant::make(s.seq_q, s.seq_k, work.mask);
  double keys = 0;
  for (std::int64_t row = 0; row < s.seq_q; row += tile.q) {
    std::int64_t const row_end = std::min<std::int64_t>(row + tile.q, s.seq_q);
    TileWalk const walk = make_walk(variant, row, row_end, tile.k, work.skip_hidden_tiles);
    keys += static_cast<double>(walk.last_key - walk.first_key);
  }
  return keys;
}

}  // namespace

double score_bytes(DType dtype) { return dtype == DType::fp64 ? 8 : 4; }

double pair_bytes(Kernel kernel, Work const& work) {
  if (kernel == Kernel::naive_vendor) return 4 * size_of(work.dtype);
  double const score = score_bytes(work.dtype);
  return 2 * score + 2 * (work.probabilities_in_input_type ? size_of(work.dtype) : score);
}

double flops(Kernel kernel, Work const& work) {
  require_concrete(kernel);
  Sizes const n = sizes(work);
  double const per_pair = 2 * (kernel == Kernel::stats ? n.head_dim : n.head_dim + n.value_dim);
  return per_pair * visible_pairs(work.shape, work.mask) * n.batch * n.heads;
}

double io_bytes(Kernel kernel, Work const& work) {
  require_concrete(kernel);
  Sizes const n = sizes(work);
  double const row_numbers = n.score * n.batch * n.heads * n.seq_q;  // one number of every query row
  if (kernel == Kernel::stats) {
    return n.element * n.batch * n.head_dim * (n.heads * n.seq_q + n.kv_heads * n.seq_k) + 2 * row_numbers;
  }
  double const tensors =
      n.element * n.batch * (n.head_dim + n.value_dim) * (n.heads * n.seq_q + n.kv_heads * n.seq_k);
  return tensors + (work.writes_lse ? row_numbers : 0);
}

double bytes_model(Kernel kernel, Work const& work) {
  double const io = io_bytes(kernel, work);
  if (!stores_scores(kernel)) return io;
  Sizes const n = sizes(work);
  return io + n.batch * n.heads * n.seq_q * n.seq_k * pair_bytes(kernel, work);
}

std::optional<double> bytes_tiles(Kernel kernel, Work const& work, Tile tile, int heads_per_tile) {
  require_concrete(kernel);
  if (stores_scores(kernel) || tile.q <= 0 || tile.k <= 0) return std::nullopt;
  Sizes const n = sizes(work);
  double const width = kernel == Kernel::stats ? n.head_dim : n.head_dim + n.value_dim;
  double const once = io_bytes(kernel, work) - n.element * n.batch * n.kv_heads * n.seq_k * width;
  return once + n.element * n.batch * (n.heads / heads_per_tile) * width * keys_visited(work, tile);
}

std::optional<double> byte_ratio(Kernel kernel, Work const& work) {
  require_concrete(kernel);
  double const own = bytes_model(kernel, work);
  if (kernel == Kernel::stats || own <= 0) return std::nullopt;
  return bytes_model(Kernel::naive, work) / own;
}

double naive_workspace_min(Kernel kernel, Work const& work) {
  Shape const& s = work.shape;
  if (s.batch == 0 || s.heads == 0 || s.seq_q == 0 || s.seq_k == 0) return 0;
  Sizes const n = sizes(work);
  // Position p of row i is i + seq_k - seq_q. The first row that sees a key is the first whose window does
  // not end before key 0; the last is the last whose window begins before the keys end.
  double const offset = n.seq_k - n.seq_q;
  double const left = work.mask.left < 0 ? n.seq_q + n.seq_k : static_cast<double>(work.mask.left);
  double const right = work.mask.right < 0 ? n.seq_q + n.seq_k : static_cast<double>(work.mask.right);
  double const first_row = std::max(0.0, -right - offset);
  double const last_row = std::min(n.seq_q - 1, n.seq_k - 1 + left - offset);
  if (last_row < first_row) return 0;
  double const rows = last_row - first_row + 1;
  double const first_key = std::max(0.0, first_row + offset - left);
  double const last_key = std::min(n.seq_k - 1, last_row + offset + right);
  double const keys = last_key - first_key + 1;
  if (kernel == Kernel::naive_vendor) {
    double const vector = 16.0 / n.element;  // rows of scores are padded to it on a GPU
    return rows * std::ceil(keys / vector) * 16;
  }
  if (size_of(work.dtype) > 2) return rows * keys * n.score;
  double const widened = (rows + keys) * (n.head_dim + n.value_dim);
  double const narrowed = work.probabilities_in_input_type ? rows * keys * n.element : 0;
  return (rows * keys + widened) * n.score + std::ceil(narrowed / 64) * 64;
}

}  // namespace flashpad::model
