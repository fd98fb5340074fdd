// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>

#include <cstdint>
#include <vector>

// Fused attention on the host in float32 as short as it gets, with switches that break it. It walks and
// schedules tiles as the library does (src/problem/walk.hpp, kernels/fused/schedule.hpp), so that what a
// switch shows is what the library would do; the library has no such switches.

namespace flashpad::labs {

/// What becomes of a score that the mask hides.
enum class Masking : std::uint8_t {
  guarded,         ///< -infinity, and a row that has seen no key takes 0 as its reference: the library's way
  raw_infinity,    ///< -infinity and nothing else
  large_negative,  ///< -1e9, and nothing else
  none             ///< it stays: wrong wherever a tile is cut by the mask
};

/// What happens to sums and accumulator when a tile has a larger maximum than those before it.
enum class Rescale : std::uint8_t {
  online,       ///< both are multiplied by exp(old maximum - new maximum)
  own_maximum,  ///< nothing: each tile is normalised to its own maximum
  sum_only      ///< the sum is, the accumulator is forgotten
};

struct Variant {
  Masking masking = Masking::guarded;
  Rescale rescale = Rescale::online;
  bool skips = true;              ///< tiles that the mask hides whole are not visited
  bool two_stages = true;         ///< the mask is applied to tiles that it cuts, else to every tile
  bool heaviest_first = true;     ///< query tiles that see most keys start first, else in the order of rows
  bool padding_is_zeros = false;  ///< keys past the end of a partial tile count as keys of zeros
};

/// One head after another; heads and kv_heads are equal.
struct Problem {
  Shape shape;
  Mask mask;
  float scale = 1;
  Tile tile;
  std::vector<float> q, k, v;  ///< contiguous b, h, n, d
};

struct Result {
  std::vector<float> o, lse;
  std::int64_t tiles_visited = 0;
  double seconds = 0;  ///< from idle to idle
};

Result run(Problem const& problem, Variant const& variant);

/// Whether Kokkos can start: one with a GPU needs one.
bool can_start();

/// Tiles that a walk without a mask visits.
std::int64_t all_tiles(Problem const& problem);

}  // namespace flashpad::labs
