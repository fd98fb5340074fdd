// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include <cstdint>

namespace flashpad {

/// One team's work: a query tile of one head, and one part of its keys.
struct WorkItem {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t query_tile = 0;
  std::int64_t split = 0;
};

/// How query tiles go to teams. Teams start in league order, so the heaviest tiles come first: under a mask
/// with a right-hand limit the last query tile sees the most keys. Heads of one key/value head are neighbours
/// in the league, so that they find its K and V in cache.
struct Schedule {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t query_tiles = 1;
  std::int64_t splits = 1;
  bool last_tile_first = false;
  std::int64_t hands = 1;  ///< threads among which the league is dealt; see dealt()

  FLASHPAD_FUNCTION std::int64_t league_size() const { return batches * heads * query_tiles * splits; }

  FLASHPAD_FUNCTION WorkItem item(std::int64_t rank) const {
    rank = dealt(rank);
    WorkItem item;
    item.head = rank % heads;
    rank /= heads;
    item.batch = rank % batches;
    rank /= batches;
    item.split = rank % splits;
    rank /= splits;
    item.query_tile = last_tile_first ? query_tiles - 1 - rank : rank;
    return item;
  }

  /// A host backend's dynamic schedule first gives each thread a run of ranks as long as the others', and
  /// lets those who are done take from the rest of another's: dealt out one by one, each run has light and
  /// heavy tiles, heaviest first. In order, the first thread would have all heavy ones, and the last of them
  /// would be taken too late: 12 % of a causal call on two threads with two query tiles a head.
  FLASHPAD_FUNCTION std::int64_t dealt(std::int64_t rank) const {
    std::int64_t const run = (league_size() + hands - 1) / hands;
    std::int64_t const shortest = league_size() - run * (hands - 1);  // the last thread's run
    if (hands == 1 || shortest <= 0) return rank;
    std::int64_t const hand = rank / run;
    std::int64_t const turn = rank % run;
    if (turn < shortest) return turn * hands + hand;
    return shortest * hands + (turn - shortest) * (hands - 1) + hand;
  }
};

}  // namespace flashpad
