// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad {

/// How attention is computed. `automatic` chooses and says why (Choice::why).
enum class Kernel : std::uint8_t {
  automatic,
  naive,         ///< Kokkos Kernels GEMM, row softmax, GEMM; the scores go through memory
  naive_vendor,  ///< the same by the vendor's batched GEMM with tensor cores, scores in the inputs' type
  fused,         ///< one TeamPolicy kernel, tiles in scratch memory, online softmax
  hopper,  ///< the same on an NVIDIA GPU of compute capability 9.0, by its own copy engine and tensor cores
  stats    ///< (max, sum) of every row of the scores, with no V and no O
};

/// Whether the scores of all pairs go through memory, some heads' at a time.
constexpr bool stores_scores(Kernel kernel) {
  return kernel == Kernel::naive || kernel == Kernel::naive_vendor;
}

/// "naive-vendor" and so on, as experiments and reports have them.
FLASHPAD_EXPORT std::string_view name(Kernel kernel) noexcept;
/// Throws Error on an unknown name; lists the known ones.
FLASHPAD_EXPORT Kernel kernel_from_name(std::string_view name);
/// The names that kernel_from_name takes.
FLASHPAD_EXPORT std::vector<std::string> kernel_names();

/// Bounds on what a caller may ask for. Places in a tile are 32-bit; more parts than these have no
/// machine to run on.
inline constexpr int max_tile = 65536;
inline constexpr int max_splits = 1024;
inline constexpr int max_team = 1024;
inline constexpr int max_stages = 64;

/// Rows and keys of one tile; 0 lets the library choose. Used by the tiled kernels only.
struct Tile {
  int q = 0;
  int k = 0;

  // Not defaulted: engines include this header, and device code is C++17 too.
  friend bool operator==(Tile const& a, Tile const& b) { return a.q == b.q && a.k == b.k; }
  friend bool operator!=(Tile const& a, Tile const& b) { return !(a == b); }
};

/// What a caller may ask for, by name. The defaults are plain full attention.
struct Options {
  Mask mask = {};
  /// Factor on Q K^T; unset is 1/sqrt(head_dim). 0 and negative numbers are values.
  std::optional<double> scale = std::nullopt;
  Kernel kernel = Kernel::automatic;
  Tile tile = {};
  /// Threads of a team (a GPU's warps or wavefronts) and key tiles in flight, where the engine can vary them;
  /// 0 lets the library choose. A tile, team size and stages that are all left to it come from the tuning
  /// cache (flashpad/tuning.hpp), where that has them.
  int team_size = 0;
  int stages = 0;
  /// Inner-product engine of the tiled kernels by name; empty chooses. See engine_names().
  std::string engine = {};
  /// Parts that the keys of one query tile are split into; 0 chooses, 1 never splits.
  int splits = 0;
  /// Bound on the workspace in bytes: the naive kernels take as many heads at once as fit. 0 is the library's
  /// default.
  double workspace_limit = 0;
  /// naive only: keep P in the 16-bit type of the inputs instead of float32.
  bool probabilities_in_input_type = false;
  /// Tiled kernels only: false also visits the tiles that the mask hides, to measure what skipping saves.
  bool skip_hidden_tiles = true;
};

/// What a plan decided.
struct Choice {
  Kernel kernel = Kernel::automatic;
  std::string engine;  ///< empty where the kernel has none
  Tile tile;           ///< {0, 0} where the kernel has no tiles
  int splits = 1;
  int heads_per_tile = 1;  ///< query heads that share one pass over their K and V
  int team_size = 0;
  int vector_length = 0;
  int stages = 0;              ///< key tiles in flight; 0 where the kernel has no tiles
  double workspace_bytes = 0;  ///< memory of the plan, beyond inputs and outputs
  double scratch_bytes = 0;    ///< team scratch of one team
  std::string why;             ///< one line: how `automatic` decided; empty for an explicit choice

  std::string tile_from;   ///< "asked", "table" or "cache"; empty where the kernel has no tiles
  std::string tile_note;   ///< one line: which cache and problem, or what of the cache was refused
  std::string tuning_key;  ///< what an entry of the tuning cache for this plan is filed under
};

}  // namespace flashpad
