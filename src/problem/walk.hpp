// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>
#include <flashpad/problem.hpp>

#include <cstdint>

// Which keys a query tile visits. Free of Kokkos: kernels, the byte model and the tests share this mask logic
// (the reference alone does not).

namespace flashpad {

/// Half-open range of keys.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  FLASHPAD_FUNCTION std::int64_t size() const { return end > begin ? end - begin : 0; }
};

/// The quotient of numbers that are not negative. Sizes are 64-bit, nearly always small, and a GPU divides
/// 64-bit numbers in some hundred instructions.
FLASHPAD_FUNCTION std::int64_t quotient(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t small = std::int64_t{1} << 32;
  if (a < small && b < small) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

/// A band in the coordinates of one tile: row r sees key k when low <= k - r <= high. In 32 bits, so that a
/// loop over scores vectorises.
struct TileBand {
  int low = 0;
  int high = 0;

  FLASHPAD_FUNCTION bool visible(int row, int key) const { return key - row >= low && key - row <= high; }

  // Keys that some of rows [0, rows) sees: [any_begin, any_end); that all of them see: [all_begin, all_end).
  FLASHPAD_FUNCTION int any_begin() const { return low; }
  FLASHPAD_FUNCTION int any_end(int rows) const { return high + rows; }
  FLASHPAD_FUNCTION int all_begin(int rows) const { return low + rows - 1; }
  FLASHPAD_FUNCTION int all_end() const { return high + 1; }
};

/// A band of visible keys around the diagonal: full, causal and windowed attention alike. A variant tells the
/// walk what a run of query rows can see, and tells an engine what one score becomes.
struct BandVariant {
  std::int64_t seq_k = 0;
  std::int64_t offset = 0;  ///< seq_k - seq_q
  std::int64_t left = -1;
  std::int64_t right = -1;

  FLASHPAD_FUNCTION static BandVariant make(std::int64_t seq_q, std::int64_t seq_k, Mask const& mask) {
    BandVariant variant;
    variant.seq_k = seq_k;
    variant.offset = seq_k - seq_q;
    // A limit that reaches past every key is no limit; this also keeps the sums below from overflowing.
    std::int64_t const reach = seq_q + seq_k;
    variant.left = mask.left >= reach ? -1 : mask.left;
    variant.right = mask.right >= reach ? -1 : mask.right;
    return variant;
  }

  /// The keys that one query row sees.
  FLASHPAD_FUNCTION KeyRange visible(std::int64_t row) const {
    std::int64_t const diagonal = row + offset;
    std::int64_t begin = left < 0 ? 0 : diagonal - left;
    std::int64_t end = right < 0 ? seq_k : diagonal + right + 1;
    if (begin < 0) begin = 0;
    if (end > seq_k) end = seq_k;
    return {begin, end > begin ? end : begin};
  }

  /// The band as seen from a tile whose first row and key are these. Tiles have less than 2^24 rows and keys.
  FLASHPAD_FUNCTION TileBand tile(std::int64_t row_begin, std::int64_t key_begin) const {
    constexpr std::int64_t far = std::int64_t{1} << 28;
    std::int64_t const diagonal = row_begin + offset - key_begin;
    std::int64_t const low = left < 0 ? -far : diagonal - left;
    std::int64_t const high = right < 0 ? far : diagonal + right;
    return {clamp(low, far), clamp(high, far)};
  }

  /// The keys that at least one row of [row_begin, row_end) sees. Both ends of `visible` grow with the row
  /// and the band has no gaps, so the union is a range.
  FLASHPAD_FUNCTION KeyRange any(std::int64_t row_begin, std::int64_t row_end) const {
    KeyRange range = {visible(row_begin).begin, visible(row_end - 1).end};
    if (range.end < range.begin) range.end = range.begin;
    return range;
  }

  /// The keys that every row of [row_begin, row_end) sees.
  FLASHPAD_FUNCTION KeyRange all(std::int64_t row_begin, std::int64_t row_end) const {
    KeyRange range = {visible(row_end - 1).begin, visible(row_begin).end};
    if (range.end < range.begin) range.end = range.begin;
    return range;
  }

 private:
  FLASHPAD_FUNCTION static int clamp(std::int64_t value, std::int64_t bound) {
    return static_cast<int>(value < -bound ? -bound : value > bound ? bound : value);
  }
};

/// The key tiles of one query tile: tile t covers keys [begin(t), end(t)). Tiles start at the first key that
/// any row sees, not at a multiple of the tile, so that keys hidden from every row are never multiplied.
/// Tiles [masked_until, masked_from) are seen whole by every row; the others need the mask: up to three
/// ranges (masked, unmasked, masked).
struct TileWalk {
  std::int64_t first_key = 0;
  std::int64_t last_key = 0;
  std::int64_t key_tile = 1;
  std::int64_t tiles = 0;
  std::int64_t masked_until = 0;
  std::int64_t masked_from = 0;

  FLASHPAD_FUNCTION std::int64_t begin(std::int64_t tile) const { return first_key + tile * key_tile; }
  FLASHPAD_FUNCTION std::int64_t end(std::int64_t tile) const {
    std::int64_t const stop = begin(tile) + key_tile;
    return stop < last_key ? stop : last_key;
  }
  FLASHPAD_FUNCTION bool masked(std::int64_t tile) const {
    return tile < masked_until || tile >= masked_from;
  }
};

/// The walk of query rows [row_begin, row_end) over keys that `variant` shows. With skip_hidden = false it
/// visits every key (and multiplies what is hidden): correct and pointless, kept to show what skipping buys.
template <class Variant>
FLASHPAD_FUNCTION TileWalk make_walk(Variant const& variant, std::int64_t row_begin, std::int64_t row_end,
                                     std::int64_t key_tile, bool skip_hidden = true) {
  KeyRange const any = skip_hidden ? variant.any(row_begin, row_end) : KeyRange{0, variant.seq_k};
  KeyRange const all = variant.all(row_begin, row_end);
  TileWalk walk;
  walk.first_key = any.begin;
  walk.last_key = any.end;
  walk.key_tile = key_tile;
  walk.tiles = quotient(any.size() + key_tile - 1, key_tile);
  // First tile that lies wholly inside `all`, and the first one after it that does not. A last, partial tile
  // that ends at the last visible key is unmasked when every row sees it: what lies beyond does not exist.
  walk.masked_until = walk.tiles;
  walk.masked_from = walk.tiles;
  if (all.size() > 0) {
    std::int64_t const from =
        all.begin > any.begin ? quotient(all.begin - any.begin + key_tile - 1, key_tile) : 0;
    std::int64_t const until = all.end >= any.end ? walk.tiles : quotient(all.end - any.begin, key_tile);
    if (from < until) {
      walk.masked_until = from;
      walk.masked_from = until;
    }
  }
  return walk;
}

/// Part `split` of `splits` of a walk's tiles, as a half-open range of tiles. Parts differ by at most one
/// tile.
FLASHPAD_FUNCTION KeyRange split_tiles(std::int64_t tiles, std::int64_t split, std::int64_t splits) {
  return {quotient(tiles * split, splits), quotient(tiles * (split + 1), splits)};
}

}  // namespace flashpad
