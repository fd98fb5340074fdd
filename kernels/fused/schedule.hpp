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

  FLASHPAD_FUNCTION std::int64_t league_size() const { return batches * heads * query_tiles * splits; }

  FLASHPAD_FUNCTION WorkItem item(std::int64_t rank) const {
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
};

}  // namespace flashpad
