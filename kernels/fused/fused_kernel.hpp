// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/fused/fused_problem.hpp"
#include "kernels/fused/key_tiles.hpp"

#include <cmath>

namespace flashpad {

/// One team's part of a problem.
struct TeamWork {
  WorkItem item;
  std::int64_t row_begin = 0;
  int rows = 0;
  int begin = 0;       ///< the first of its key tiles; keys.end is past the last
  int whole_from = 0;  ///< tiles [whole_from, whole_until) need no mask
  int whole_until = 0;
  KeyTiles keys;
};

/// Fused attention (FlashAttention-2: Dao 2023, arXiv:2307.08691) as one loop for every backend. A team owns
/// a query tile: it walks the key tiles that the variant shows, keeps (max, sum, accumulator) on chip, and
/// divides once at the end.
///
/// The loop below knows nothing of instruction sets, and needs no Kokkos of its own: a team has a rank,
/// scratch memory and a barrier. An Engine owns the state, the scores and the staging of tiles, and offers:
///
///   Config                        what the host prepares; Engine(team, problem, config) claims scratch
///   setup(make)                   make(), kept where the whole team can read it
///   first_block(), end_block(rows), block_rows()
///                                 units of query rows that the calling thread works on, one after the
///                                 other: all of them on the host, a warp's own on a GPU
///   load_queries(pointer, stride, rows)
///   begin(keys, tile)             tiles of K and V may begin to come, from this one on
///   bring(keys, tile)             returns when the tile may be read; tiles are brought in order
///   run_keys, one_run, key_unit() most keys whose scores exist at one time, whether that is a tile, and what
///                                 a run of keys begins at a multiple of
///   scores(block, first, n)       scores of keys [first, first + n) of the tile, and to a whole score_unit
///   for_each(block, first, n, f)  f(row in block, key in tile, score&) over those scores; or, where
///                                 masks_by_itself, mask(block, first, n, band): -infinity outside the band
///   softmax(block, n)             takes them into (max, sum), rescaling the accumulator
///   accumulate(block, first, n)   adds their share of V
///   finish(...)                   writes one tile's results; in partial ones max counts in log_unit
template <class Engine>
class FusedLoop {
 public:
  template <class Team>
  FLASHPAD_FUNCTION static void run(Team const& team, FusedProblem const& p,
                                    typename Engine::Config const& config) {
    Engine engine(team, p, config);
    TeamWork const& work = engine.setup([&]() { return make_work(p, team.league_rank()); });
    engine.load_queries(p.q.row(work.item.batch, work.item.head, work.row_begin), p.q.stride_n, work.rows);
    engine.begin(work.keys, work.begin);
    FusedLoop const loop{p, engine, work};
    // Tiles that a mask cuts, tiles that every row sees whole, tiles that a mask cuts.
    int tile = work.begin;
    FLASHPAD_KEEP_LOOP
    for (int phase = 0; phase < 3; ++phase) {
      int const until = phase == 0 ? work.whole_from : phase == 1 ? work.whole_until : work.keys.end;
      if (phase == 1) {
        loop.template visit<false>(tile, until);
      } else {
        loop.template visit<true>(tile, until);
      }
      tile = most(tile, until);
    }
    engine.finish(p, work.item, work.row_begin, work.rows);
  }

 private:
  template <class T>
  FLASHPAD_FUNCTION static T least(T a, T b) {
    return a < b ? a : b;
  }
  template <class T>
  FLASHPAD_FUNCTION static T most(T a, T b) {
    return a > b ? a : b;
  }

  /// All that follows from a team's rank.
  FLASHPAD_FUNCTION static TeamWork make_work(FusedProblem const& p, int league_rank) {
    TeamWork work;
    WorkItem const& item = work.item = p.schedule.item(league_rank);
    work.row_begin = item.query_tile * p.tile_q;
    work.rows = static_cast<int>(least<std::int64_t>(p.shape.seq_q - work.row_begin, p.tile_q));
    TileWalk const walk =
        make_walk(p.variant, work.row_begin, work.row_begin + work.rows, p.tile_k, p.skip_hidden);
    KeyRange const part = split_tiles(walk.tiles, item.split, p.schedule.splits);
    std::int64_t const key_head = quotient(item.head, p.group_size());
    work.keys = KeyTiles::make(walk, p.k.row(item.batch, key_head, 0), p.k.stride_n,
                               p.v.row(item.batch, key_head, 0), p.v.stride_n, static_cast<int>(part.end));
    work.begin = static_cast<int>(part.begin);
    // An engine that takes keys in units has scores of keys that do not exist, which the mask hides as well:
    // to it only a whole tile is without a mask.
    bool const in_units = p.tile_k % Engine::score_unit == 0;
    int const last_whole = Engine::score_unit == 1 ? work.keys.end : least(work.keys.whole, work.keys.end);
    work.whole_from = in_units ? least(static_cast<int>(walk.masked_until), work.keys.end) : work.keys.end;
    work.whole_until = in_units ? least(static_cast<int>(walk.masked_from), last_whole) : work.keys.end;
    return work;
  }

  FLASHPAD_FUNCTION FusedLoop(FusedProblem const& problem, Engine& engine, TeamWork const& work)
      : m_problem(problem), m_engine(engine), m_work(work) {}

  FusedProblem const& m_problem;
  Engine& m_engine;
  TeamWork const& m_work;

  /// Keys [first, end) of a tile, which some row of the block sees; `cut` when not every row sees all that
  /// the engine makes scores for.
  struct Part {
    int first;
    int end;
    bool cut;
    TileBand band;
  };

  template <bool Masked>
  FLASHPAD_FUNCTION void visit(int from, int to) const {
    int const first_block = m_engine.first_block();
    int const end_block = m_engine.end_block(m_work.rows);
    for (int tile = from; tile < to; ++tile) {
      m_engine.bring(m_work.keys, tile);
      for (int block = first_block; block < end_block; ++block) {
        Part part{0, Engine::score_unit == 1 ? m_work.keys.count(tile) : m_problem.tile_k, false, {}};
        if constexpr (Masked) part = narrow(tile, block);
        if constexpr (Engine::one_run) {
          if (part.first < part.end) visit_run<Masked>(tile, block, part, part.first);
        } else {
          FLASHPAD_UNROLL
          for (int run = 0; run < Engine::runs; ++run) {
            int const first = run * Engine::run_keys;
            if (first >= part.first && first < part.end) visit_run<Masked>(tile, block, part, first);
          }
        }
      }
    }
  }

  template <bool Masked>
  FLASHPAD_FUNCTION void visit_run(int tile, int block, Part const& part, int first) const {
    int const n = least(part.end - first, Engine::run_keys);
    m_engine.scores(block, first, n);
    if constexpr (Masked) {
      if (part.cut) mask(part.band, m_work.keys.count(tile), block, first, n);
    }
    m_engine.softmax(block, n);
    if (m_problem.with_values) m_engine.accumulate(block, first, n);
  }

  FLASHPAD_FUNCTION Part narrow(int tile, int block) const {
    int const first_row = block * m_engine.block_rows();
    int const here = least(m_engine.block_rows(), m_work.rows - first_row);
    TileBand const band = m_problem.variant.tile(m_work.row_begin + first_row, m_work.keys.first(tile));
    int first = 0;
    int end = m_work.keys.count(tile);
    if (m_problem.skip_hidden) {
      first = most(first, least(band.any_begin(), end));
      end = most(first, least(end, band.any_end(here)));
    }
    first -= first % m_engine.key_unit();
    return {first, end, first < band.all_begin(here) || end > band.all_end() || end % Engine::score_unit != 0,
            band};
  }

  FLASHPAD_FUNCTION void mask(TileBand band, int count, int block, int first, int n) const {
    if constexpr (Engine::masks_by_itself) {
      m_engine.mask(block, first, n, band);
    } else {
      using Compute = typename Engine::Compute;
      m_engine.for_each(block, first, n, [band, count](int row, int key, Compute& score) {
        // A guarded -infinity and no large negative number: a finite one would beat logits that are smaller.
        if (key < row + band.low || key > least(row + band.high, count - 1)) {
          score = -static_cast<Compute>(INFINITY);
        }
      });
    }
  }
};

}  // namespace flashpad
