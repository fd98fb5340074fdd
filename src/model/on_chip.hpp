// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "model/counts.hpp"

#include <flashpad/options.hpp>

#include <string>

// What a tile takes on chip, foreseen before anything runs. Arithmetic only.

namespace flashpad::model {

/// Where a kind of engine keeps what a team works on, and what there is of it. 0 is no limit.
struct OnChip {
  double scratch = 0;    ///< bytes of fast memory that a team may have: scratch, LDS, shared memory
  double registers = 0;  ///< 32-bit registers of one lane
  int lanes = 1;         ///< of a warp or wavefront
  double cache = 0;  ///< bytes of the last-level cache, for engines whose state lies in memory that it holds

  bool queries_in_scratch = false;  ///< else in registers
  bool state_in_scratch = false;    ///< scores and accumulator; else in registers
  double element_bytes = 0;         ///< of Q, K and V on chip; 0 is that of the inputs
};

/// Bytes of one team, by what they hold.
struct TeamBytes {
  double queries = 0, accumulator = 0, keys_values = 0, scores = 0;

  [[nodiscard]] double total() const { return queries + accumulator + keys_values + scores; }
};

/// The accumulator is tile.q x value_dim numbers of the type of arithmetic, none for `stats`; K and V of
/// `stages` key tiles, K alone for `stats`.
TeamBytes team_bytes(Kernel kernel, Work const& work, Tile tile, int stages, double element_bytes = 0);

/// Why a tile cannot run well, as one line with the numbers: more scratch than there is, more registers than
/// a lane has, which spill to memory, or a working set past the cache. Empty where it fits.
std::string over_budget(Kernel kernel, Work const& work, Tile tile, int team, int stages, OnChip const& chip);

}  // namespace flashpad::model
