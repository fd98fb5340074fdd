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
/// in the league, so that they find its K and V in cache; and heads are worked on in sections, so that a GPU
/// whose second-level cache holds the K and V of some heads reads them once for all query tiles.
struct Schedule {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t query_tiles = 1;
  std::int64_t splits = 1;
  bool last_tile_first = false;
  std::int64_t hands = 1;    ///< threads among which the league is dealt; see dealt()
  std::int64_t section = 0;  ///< (batch, head) pairs that are worked on together; 0 is all

  FLASHPAD_FUNCTION std::int64_t league_size() const { return batches * heads * query_tiles * splits; }

  /// In 32 bits: a league has less than 2^31 teams, and a GPU divides 64-bit numbers in some hundred cycles.
  FLASHPAD_FUNCTION WorkItem item(std::int64_t league_rank) const {
    auto const rank = static_cast<std::uint32_t>(dealt(league_rank));
    auto const head_count = static_cast<std::uint32_t>(heads);
    auto const split_count = static_cast<std::uint32_t>(splits);
    auto const tile_count = static_cast<std::uint32_t>(query_tiles);
    std::uint32_t const pairs = static_cast<std::uint32_t>(batches) * head_count;
    std::uint32_t const together = section > 0 ? static_cast<std::uint32_t>(section) : pairs;
    std::uint32_t const first_pair = rank / (together * split_count * tile_count) * together;
    std::uint32_t const rest = rank - first_pair * split_count * tile_count;
    std::uint32_t const here = pairs - first_pair < together ? pairs - first_pair : together;
    std::uint32_t const pair = first_pair + rest % here;
    std::uint32_t const part = rest / here;
    std::uint32_t const tile = part / split_count;
    return {pair / head_count, pair % head_count, last_tile_first ? tile_count - 1 - tile : tile,
            part % split_count};
  }

  /// A host backend's dynamic schedule first gives each thread a run of ranks as long as the others', and
  /// lets those who are done take from the rest of another's: dealt out one by one, each run has light and
  /// heavy tiles, heaviest first. In order, the first thread would have all heavy ones, and the last of them
  /// would be taken too late: 12 % of a causal call on two threads with two query tiles a head.
  FLASHPAD_FUNCTION std::int64_t dealt(std::int64_t rank) const {
    if (hands == 1) return rank;
    std::int64_t const run = (league_size() + hands - 1) / hands;
    std::int64_t const shortest = league_size() - run * (hands - 1);  // the last thread's run
    if (shortest <= 0) return rank;
    std::int64_t const hand = rank / run;
    std::int64_t const turn = rank % run;
    if (turn < shortest) return turn * hands + hand;
    return shortest * hands + (turn - shortest) * (hands - 1) + hand;
  }
};

}  // namespace flashpad
