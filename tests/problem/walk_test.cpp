// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/error.hpp>

#include "kernels/fused/schedule.hpp"
#include "problem/walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace flashpad {
namespace {

/// The definition, word for word.
bool sees(std::int64_t i, std::int64_t j, std::int64_t seq_q, std::int64_t seq_k, Mask const& mask) {
  std::int64_t const diagonal = i + seq_k - seq_q;
  return (mask.left == -1 || diagonal - mask.left <= j) && (mask.right == -1 || j <= diagonal + mask.right);
}

std::vector<Mask> const masks = {Mask::none(),        Mask::causal(),      Mask::window(0, 0),
                                 Mask::window(3, 2),  Mask::window(-1, 4), Mask::window(4, -1),
                                 Mask::window(50, 50)};
std::vector<std::pair<std::int64_t, std::int64_t>> const lengths = {{1, 1},  {9, 9},  {5, 12},
                                                                    {12, 5}, {20, 1}, {7, 0}};

TEST(BandVariant, VisibleIsTheDefinition) {
  for (auto const& [seq_q, seq_k] : lengths) {
    for (Mask const& mask : masks) {
      auto const variant = BandVariant::make(seq_q, seq_k, mask);
      for (std::int64_t i = 0; i < seq_q; ++i) {
        KeyRange const range = variant.visible(i);
        auto const band = variant.tile(i, 0);
        for (std::int64_t j = 0; j < seq_k; ++j) {
          EXPECT_EQ(j >= range.begin && j < range.end, sees(i, j, seq_q, seq_k, mask));
          EXPECT_EQ(band.visible(0, static_cast<int>(j)), sees(i, j, seq_q, seq_k, mask));
        }
        EXPECT_GE(range.begin, 0);
        EXPECT_LE(range.end, seq_k);
      }
    }
  }
}

TEST(TileWalk, CoversWhatIsVisibleAndNothingThatNoRowSees) {
  for (auto const& [seq_q, seq_k] : lengths) {
    for (Mask const& mask : masks) {
      for (std::int64_t const tile_q : {1, 3, 8}) {
        for (std::int64_t const tile_k : {1, 2, 5, 64}) {
          for (bool const skip : {true, false}) {
            auto const variant = BandVariant::make(seq_q, seq_k, mask);
            for (std::int64_t row = 0; row < seq_q; row += tile_q) {
              std::int64_t const row_end = std::min(row + tile_q, seq_q);
              TileWalk const walk = make_walk(variant, row, row_end, tile_k, skip);
              std::set<std::int64_t> visited;
              for (std::int64_t t = 0; t < walk.tiles; ++t) {
                EXPECT_LT(walk.begin(t), walk.end(t));
                for (std::int64_t j = walk.begin(t); j < walk.end(t); ++j) {
                  EXPECT_TRUE(visited.insert(j).second) << "visited twice";
                  for (std::int64_t i = row; i < row_end; ++i) {
                    if (!walk.masked(t)) {
                      EXPECT_TRUE(sees(i, j, seq_q, seq_k, mask)) << "an unmasked tile hides a key";
                    }
                  }
                }
              }
              for (std::int64_t j = 0; j < seq_k; ++j) {
                bool any = false;
                for (std::int64_t i = row; i < row_end; ++i) any = any || sees(i, j, seq_q, seq_k, mask);
                if (any) {
                  EXPECT_EQ(visited.count(j), 1u) << "a visible key is not visited";
                }
                if (!any && skip) {
                  EXPECT_EQ(visited.count(j), 0u) << "a key that no row sees is visited";
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST(TileWalk, CausalNeedsTheMaskOnTheDiagonalAlone) {
  auto const variant = BandVariant::make(1024, 1024, Mask::causal());
  TileWalk const walk = make_walk(variant, 512, 576, 64);
  EXPECT_EQ(walk.tiles, 9);
  for (std::int64_t t = 0; t < walk.tiles; ++t) EXPECT_EQ(walk.masked(t), t == 8);
}

TEST(SplitTiles, PartsAreDisjointAndWhole) {
  for (std::int64_t const tiles : {0, 1, 5, 64}) {
    for (std::int64_t const splits : {1, 2, 7}) {
      std::int64_t next = 0;
      for (std::int64_t s = 0; s < splits; ++s) {
        KeyRange const part = split_tiles(tiles, s, splits);
        EXPECT_EQ(part.begin, next);
        EXPECT_LE(part.size(), tiles / splits + 1);
        next = part.end;
      }
      EXPECT_EQ(next, tiles);
    }
  }
}

TEST(Schedule, VisitsEveryItemOnceAndTheHeaviestFirst) {
  Schedule schedule{2, 3, 4, 2, true};
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> seen;
  std::int64_t last_tile = 3;
  for (std::int64_t rank = 0; rank < schedule.league_size(); ++rank) {
    WorkItem const item = schedule.item(rank);
    seen.insert({item.batch, item.head, item.query_tile, item.split});
    EXPECT_LE(item.query_tile, last_tile);
    last_tile = item.query_tile;
  }
  EXPECT_EQ(seen.size(), 48u);
  schedule.last_tile_first = false;
  EXPECT_EQ(schedule.item(0).query_tile, 0);
}

TEST(Schedule, DealsEachThreadARunOfAllWeights) {
  for (std::int64_t const hands : {1, 2, 3, 5, 7, 32, 48, 50, 100}) {
    Schedule schedule{2, 3, 4, 2, true};
    schedule.hands = hands;
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> seen;
    std::int64_t const run = (schedule.league_size() + hands - 1) / hands;
    std::vector<std::int64_t> weight(static_cast<std::size_t>(hands));
    for (std::int64_t rank = 0; rank < schedule.league_size(); ++rank) {
      WorkItem const item = schedule.item(rank);
      seen.insert({item.batch, item.head, item.query_tile, item.split});
      weight[static_cast<std::size_t>(rank / run)] += item.query_tile;
      if (rank % run > 0) {
        EXPECT_LE(item.query_tile, schedule.item(rank - 1).query_tile);
      }
    }
    EXPECT_EQ(seen.size(), 48u) << hands;
    if (48 % hands == 0) {
      auto const [least, most] = std::minmax_element(weight.begin(), weight.end());
      EXPECT_LE(*most - *least, 3) << hands;
    }
  }
}

TEST(Schedule, WorksOnSectionsOneAfterTheOther) {
  for (std::int64_t const section : {1, 2, 4, 5, 6, 100}) {
    Schedule schedule{2, 3, 4, 2, true};
    schedule.section = section;
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> seen;
    std::int64_t last_section = 0;
    std::int64_t last_tile = 3;
    for (std::int64_t rank = 0; rank < schedule.league_size(); ++rank) {
      WorkItem const item = schedule.item(rank);
      seen.insert({item.batch, item.head, item.query_tile, item.split});
      std::int64_t const here = (item.batch * schedule.heads + item.head) / section;
      EXPECT_GE(here, last_section);
      if (here == last_section) {
        EXPECT_LE(item.query_tile, last_tile);
      }
      last_section = here;
      last_tile = item.query_tile;
    }
    EXPECT_EQ(seen.size(), 48u);
  }
}

TEST(VisiblePairs, CountsTheDefinition) {
  for (auto const& [seq_q, seq_k] : lengths) {
    for (Mask const& mask : masks) {
      Shape shape;
      shape.seq_q = seq_q;
      shape.seq_k = seq_k;
      double pairs = 0;
      for (std::int64_t i = 0; i < seq_q; ++i) {
        for (std::int64_t j = 0; j < seq_k; ++j) pairs += sees(i, j, seq_q, seq_k, mask);
      }
      EXPECT_EQ(visible_pairs(shape, mask), pairs);
    }
  }
}

TEST(Validate, NamesTheArgumentTheValueAndWhatIsAllowed) {
  Shape const good{1, 4, 2, 8, 8, 64, 64};
  EXPECT_NO_THROW(validate(good, Mask::causal()));
  auto const message = [&](auto change) {
    Shape shape = good;
    Mask mask;
    change(shape, mask);
    try {
      validate(shape, mask);
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([](Shape& s, Mask&) { s.seq_q = -1; }),
            "seq_q: -1 is out of range; allowed: 0 to 1099511627776");
  EXPECT_EQ(message([](Shape& s, Mask&) { s.head_dim = 20; }),
            "head_dim: 20 is not supported; allowed: 16 to 256 in steps of 8");
  EXPECT_EQ(message([](Shape& s, Mask&) { s.value_dim = 264; }),
            "value_dim: 264 is not supported; allowed: 16 to 256 in steps of 8");
  EXPECT_EQ(message([](Shape& s, Mask&) { s.kv_heads = 3; }),
            "kv_heads: 3 does not divide heads = 4; allowed: a divisor of heads");
  EXPECT_EQ(message([](Shape& s, Mask&) {
              s.batch = s.heads = std::int64_t{1} << 30;
              s.kv_heads = 1;
            }),
            "q: 5.90295810358706e+20 elements are too many; allowed: up to 2^60");
  EXPECT_EQ(message([](Shape&, Mask& m) { m.left = -2; }),
            "mask.left: -2 is not a mask limit; allowed: 0 or more, or -1 for no limit");
}

}  // namespace
}  // namespace flashpad
