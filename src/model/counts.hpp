// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include <flashpad/types.hpp>

#include <optional>

// Operations and bytes of one call by formula: estimates, never measurements. Arithmetic only, no Kokkos.

namespace flashpad::model {

/// What the counts depend on.
struct Work {
  Shape shape;
  Mask mask;
  DType dtype = DType::fp32;
  bool writes_lse = false;
  bool probabilities_in_input_type = false;  ///< naive: P is stored in the 16-bit type of the inputs
  bool skip_hidden_tiles = true;             ///< tiled kernels: the walk leaves out what the mask hides
};

/// Bytes of one score, of one statistic and of one LSE: float32, or float64 for float64 inputs.
double score_bytes(DType dtype);

/// Bytes that a kernel that stores scores moves for one pair: its score written and read, and its
/// probability. The vendor's product keeps both in the inputs' type.
double pair_bytes(Kernel kernel, Work const& work);

/// 2 (d + dv) operations a visible pair of query and key, 2 d for `stats`. Hidden pairs count nothing.
double flops(Kernel kernel, Work const& work);

/// Bytes of the call's own arguments, each touched once: Q, K, V and O (and LSE), or for `stats` Q, K, max
/// and sum.
double io_bytes(Kernel kernel, Work const& work);

/// Bytes that the kernel moves to and from memory: its arguments once, and for the naive kernels the scores
/// written and read and the probabilities written and read, over all pairs.
double bytes_model(Kernel kernel, Work const& work);

/// Bytes that the tile loop asks of the next level of memory: as io_bytes, but K and V once for every query
/// tile and key tile visited, by `heads_per_tile` query heads at once. Empty for kernels without tiles and
/// where the tile is not known.
std::optional<double> bytes_tiles(Kernel kernel, Work const& work, Tile tile, int heads_per_tile = 1);

/// bytes_model(naive) / bytes_model(kernel): the traffic that fusing saves. Empty for `stats`, which computes
/// something else, and where no byte moves.
std::optional<double> byte_ratio(Kernel kernel, Work const& work);

/// Memory that a kernel that stores scores needs at least beyond inputs and outputs, for one head: the scores
/// of the query rows that see a key and the keys that a row sees, and for naive on 16-bit types the same rows
/// and keys widened, and the probabilities where they are kept in the input type.
double naive_workspace_min(Kernel kernel, Work const& work);

}  // namespace flashpad::model
