// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/fused/fused_problem.hpp"

namespace flashpad {

/// Fused attention (FlashAttention-2: Dao 2023, arXiv:2307.08691) as one TeamPolicy kernel for every backend.
/// A team owns a query tile: it walks the key tiles that the variant shows, keeps (max, sum, accumulator) on
/// chip, and divides once at the end.
///
/// The loop below knows nothing of instruction sets. An Engine owns the state, the scores and the staging of
/// tiles, and offers:
///
///   Config                          what the host prepares; Engine(team, problem, config) claims scratch
///   stages                          tiles of K, and of V, that may be in flight
///   row_blocks(), block_rows()      query rows in units that share one pass over a tile; one block on a GPU
///   key_unit                        a block's keys begin at a multiple of this many in the tile
///   load_queries(pointer, stride, rows)
///   fetch_keys(tile, ...), wait_keys(tile), release_keys(tile); the same for values: fetch may return before
///       the data is there, wait makes it readable, release says that its stage may be written again
///   scores(block, first, n)         scores of keys [first, first + n) of the tile that was waited for
///   for_each(block, first, n, f)    f(row in block, key in tile, score&) over those scores
///       or, where masks_by_itself, mask(block, first, n, band): -infinity in those outside the band
///   softmax(block, n)               takes them into (max, sum), rescaling the accumulator
///   accumulate(block, first, n)     adds their share of V
///   finish(...)                     writes one tile's results
template <class Exec, class Engine, class Schedule>
struct FusedKernel {
  using Policy = Kokkos::TeamPolicy<Exec, Schedule, Kokkos::LaunchBounds<Engine::max_threads, 1>>;
  using Member = typename Policy::member_type;

  FusedProblem problem;
  typename Engine::Config config;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    FusedProblem const& p = problem;
    WorkItem const item = p.schedule.item(team.league_rank());
    std::int64_t const row_begin = item.query_tile * p.tile_q;
    std::int64_t const rows_left = p.shape.seq_q - row_begin;
    int const rows = static_cast<int>(rows_left < p.tile_q ? rows_left : p.tile_q);
    TileWalk const walk = make_walk(p.variant, row_begin, row_begin + rows, p.tile_k, p.skip_hidden);
    KeyRange const tiles = split_tiles(walk.tiles, item.split, p.schedule.splits);

    Engine engine(team, p, config);
    engine.load_queries(p.q.row(item.batch, item.head, row_begin), p.q.stride_n, rows);
    Loop loop{p, engine, walk, item, row_begin, rows, tiles.end};
    loop.start(tiles.begin);
    // Tiles that a mask cuts, tiles that every row sees whole, tiles that a mask cuts.
    loop.template visit<true>(tiles.begin, least(tiles.end, walk.masked_until));
    loop.template visit<false>(most(tiles.begin, walk.masked_until), least(tiles.end, walk.masked_from));
    loop.template visit<true>(most(tiles.begin, walk.masked_from), tiles.end);
    engine.finish(p, item, row_begin, rows);
  }

 private:
  KOKKOS_FUNCTION static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  KOKKOS_FUNCTION static std::int64_t most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

  struct Loop {
    FusedProblem const& p;
    Engine& engine;
    TileWalk const& walk;
    WorkItem const& item;
    std::int64_t row_begin;
    int rows;
    std::int64_t last_tile;

    KOKKOS_FUNCTION int keys_in(std::int64_t tile) const {
      return static_cast<int>(walk.end(tile) - walk.begin(tile));
    }

    KOKKOS_FUNCTION void fetch_keys(std::int64_t tile) const {
      if (tile >= last_tile) return;
      engine.fetch_keys(tile, p.k.row(item.batch, item.head / p.group_size(), walk.begin(tile)), p.k.stride_n,
                        keys_in(tile));
    }

    KOKKOS_FUNCTION void fetch_values(std::int64_t tile) const {
      if (!p.with_values || tile >= last_tile) return;
      engine.fetch_values(tile, p.v.row(item.batch, item.head / p.group_size(), walk.begin(tile)),
                          p.v.stride_n, keys_in(tile));
    }

    KOKKOS_FUNCTION void start(std::int64_t first_tile) const {
      for (int stage = 0; stage < Engine::stages; ++stage) {
        fetch_keys(first_tile + stage);
        fetch_values(first_tile + stage);
      }
    }

    template <bool Masked>
    KOKKOS_FUNCTION void visit(std::int64_t from, std::int64_t to) const {
      for (std::int64_t tile = from; tile < to; ++tile) {
        engine.wait_keys(tile);
        int const blocks = engine.row_blocks(rows);
        for (int block = 0; block < blocks; ++block) {
          bool const last_block = block + 1 == blocks;
          int first = 0;
          int n = keys_in(tile);
          bool cut = false;
          if constexpr (Masked) cut = narrow(tile, block, first, n);
          if (n > 0) {
            engine.scores(block, first, n);
            if (cut) mask(tile, block, first, n);
          }
          if (last_block) {
            engine.release_keys(tile);
            fetch_keys(tile + Engine::stages);
          }
          if (n > 0) engine.softmax(block, n);
          if (!p.with_values) continue;
          if (block == 0) engine.wait_values(tile);
          if (n > 0) engine.accumulate(block, first, n);
          if (last_block) {
            engine.release_values(tile);
            fetch_values(tile + Engine::stages);
          }
        }
      }
    }

    /// Narrows [first, first + n) to the keys that some row of the block sees; returns whether some row does
    /// not see them all.
    KOKKOS_FUNCTION bool narrow(std::int64_t tile, int block, int& first, int& n) const {
      std::int64_t const block_begin = row_begin + static_cast<std::int64_t>(block) * engine.block_rows();
      std::int64_t const block_end = least(block_begin + engine.block_rows(), row_begin + rows);
      std::int64_t begin = walk.begin(tile);
      std::int64_t end = walk.end(tile);
      KeyRange const all = p.variant.all(block_begin, block_end);
      if (p.skip_hidden) {
        KeyRange const any = p.variant.any(block_begin, block_end);
        begin = most(begin, any.begin);
        end = least(end, any.end);
      }
      begin -= (begin - walk.begin(tile)) % Engine::key_unit;
      first = static_cast<int>(begin - walk.begin(tile));
      n = end > begin ? static_cast<int>(end - begin) : 0;
      return begin < all.begin || end > all.end;
    }

    KOKKOS_FUNCTION void mask(std::int64_t tile, int block, int first, int n) const {
      using Compute = typename Engine::Compute;
      std::int64_t const block_begin = row_begin + static_cast<std::int64_t>(block) * engine.block_rows();
      auto const band = p.variant.tile(block_begin, walk.begin(tile));
      if constexpr (Engine::masks_by_itself) {
        engine.mask(block, first, n, band);
        return;
      } else {
        engine.for_each(block, first, n, [band](int row, int key, Compute& score) {
          // A guarded -infinity and no large negative number: a finite one would beat logits that are
          // smaller.
          if (!band.visible(row, key)) score = -Kokkos::Experimental::infinity<Compute>::value;
        });
      }
    }
  };
};

}  // namespace flashpad
