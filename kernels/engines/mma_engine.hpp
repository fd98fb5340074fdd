// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mma_products.hpp"
#include "kernels/fused/fused_problem.hpp"
#include "kernels/fused/key_tiles.hpp"
#include "problem/folded_scale.hpp"

#include <cfloat>
#include <cmath>
#include <cstddef>

namespace flashpad::engines {

/// What the engine below is compiled for. Head dimensions up to `dim` are served, with zeros above the true
/// one.
template <int Dim, int Fragments, int Warps, int Keys, int Run, int Stages, int Teams>
struct MmaTiling {
  static constexpr int dim = Dim;
  static constexpr int fragments = Fragments;  ///< of 16 query rows, that one warp owns
  static constexpr int warps = Warps;
  static constexpr int keys = Keys;      ///< most keys of a tile
  static constexpr int run = Run;        ///< keys whose scores are in registers at one time
  static constexpr int stages = Stages;  ///< tiles in shared memory
  static constexpr int teams = Teams;    ///< that registers must leave room for on a multiprocessor
  static constexpr int rows = 16 * Fragments * Warps;
  static_assert(Dim % 32 == 0 && Keys % Run == 0 && Run % 16 == 0 && Stages >= 2);
};

/// Engine of NVIDIA's tensor cores through warp-level instructions (FlashAttention-2). Each warp owns some
/// fragments of 16 query rows: Q, the scores and O stay in its registers (layouts: mma_ptx.hpp), and the team
/// meets once a key tile, when a stage of the ring in scratch memory changes hands. Rows in scratch are
/// padded by 16 bytes, so that the 8 rows of a matrix lie in different banks.
///
/// Free of Kokkos: any team with scratch memory that is a block will do.
template <class Products, class Tiling, class Member>
class MmaEngine {
 public:
  using Compute = float;
  using Storage = typename Products::Storage;
  static constexpr int max_threads = 32 * Tiling::warps;
  static constexpr int min_teams = Tiling::teams;
  static constexpr int run_keys = Tiling::run;
  static constexpr bool one_run = Tiling::run == Tiling::keys;
  static constexpr int runs = Tiling::keys / Tiling::run;
  static constexpr int score_unit = Tiling::run;
  static constexpr bool masks_by_itself = false;
  static constexpr double log_unit = 0.69314718055994530942;

  /// What follows from the problem alone; a kernel's arguments need no registers.
  struct Config {
    float scale = 1;  ///< |scale| * log2(e), 1 where that is 0
    float sign = 1;   ///< of the scale: queries are multiplied by it
    float slack = 0;  ///< how far below a row's maximum its reference may be, in powers of two
    int key_chunks = 0;
    int value_chunks = 0;
  };

  static Config make_config(FusedProblem const& p) {
    FoldedScale const folded = FoldedScale::of(p.scale);
    Config config;
    config.scale = folded.factor;
    config.sign = folded.sign;
    config.slack = p.with_values ? 8.0f : 0.0f;
    config.key_chunks = static_cast<int>(p.shape.head_dim) / chunk;
    config.value_chunks = p.with_values ? static_cast<int>(p.shape.value_dim) / chunk : 0;
    return config;
  }

  static constexpr int pitch = Tiling::dim * static_cast<int>(sizeof(Storage)) + 16;
  static constexpr int stage_bytes = Tiling::keys * pitch;
  static constexpr int warp_rows = 16 * Tiling::fragments;
  static constexpr int alignment = 16;
  /// The ring of K and V; Q on its way in and O on its way out use the same memory.
  static constexpr int ring_bytes = 2 * Tiling::stages * stage_bytes > Tiling::rows* pitch
                                        ? 2 * Tiling::stages* stage_bytes
                                        : Tiling::rows* pitch;
  static constexpr int work_bytes = 192;
  static constexpr int scratch_bytes = ring_bytes + work_bytes;

  FLASHPAD_PTX_FUNCTION MmaEngine(Member const& team, FusedProblem const& p, Config const& config)
      : m_team(team),
        m_problem(p),
        m_config(config),
        m_warp(static_cast<int>(ptx::uniform(static_cast<std::uint32_t>(m_team.team_rank())))),
        m_base(ptx::shared_address(team.team_scratch(0).get_shmem_aligned(
            static_cast<std::ptrdiff_t>(scratch_bytes), static_cast<std::ptrdiff_t>(alignment)))) {
    int const lane = ptx::lane();
    m_key_lane = static_cast<std::uint32_t>(((lane & 7) + (lane >> 4) * 8) * pitch + (lane >> 3 & 1) * 16);
    m_value_lane =
        static_cast<std::uint32_t>(Tiling::stages * stage_bytes) + Products::value_offset(lane, pitch);
  }

  /// In scratch memory, and made by one lane: registers are short, and a value that is the same in the whole
  /// team would take one of each lane.
  template <class F>
  FLASHPAD_PTX_FUNCTION auto const& setup(F const& make) const {
    using Work = decltype(make());
    static_assert(sizeof(Work) <= work_bytes);
    // From the address in shared memory, which lives on anyway: a pointer would take two registers.
    auto* const work = static_cast<Work*>(ptx::shared_pointer(m_base + ring_bytes));
    if (m_warp == 0 && ptx::lane() == 0) *work = make();
    ptx::sync_team();
    return *work;
  }

  // A warp's rows are one block, and each warp works on its own.
  FLASHPAD_PTX_FUNCTION static constexpr int key_unit() { return Tiling::run; }
  FLASHPAD_PTX_FUNCTION int first_block() const { return m_warp; }
  FLASHPAD_PTX_FUNCTION int end_block(int rows) const {
    return m_warp * warp_rows < rows ? m_warp + 1 : m_warp;
  }
  FLASHPAD_PTX_FUNCTION int block_rows() const { return warp_rows; }

  FLASHPAD_PTX_FUNCTION void load_queries(char const* rows_of_q, std::int64_t stride, int rows) {
    int const lane = ptx::lane();
    int const first = m_warp * warp_rows;
    std::uint32_t const region = m_base + static_cast<std::uint32_t>(first * pitch);
    auto const thread = static_cast<std::uint32_t>(lane);
    auto const row = static_cast<int>(thread / row_threads);
    auto const column = static_cast<int>(thread % row_threads * 16);
    copy_rows<warp_rows, 32>(region + static_cast<std::uint32_t>(row * pitch + column),
                             rows_of_q + (first + row) * stride + column, stride, rows - first - row,
                             m_config.key_chunks, thread);
    ptx::copy_async_commit();
    ptx::copy_async_wait<0>();
    ptx::sync_warp();
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int c = 0; c < slices; ++c) {
        ptx::load_matrices(m_q[m][c].r, region + static_cast<std::uint32_t>((m * 16 + (lane & 15)) * pitch +
                                                                            c * 32 + (lane >> 4) * 16));
      }
      FLASHPAD_UNROLL
      for (int i = 0; i < 2; ++i) {
        m_reference[m][i] = -FLT_MAX;
        m_sum[m][i] = 0;
      }
      FLASHPAD_UNROLL
      for (int c = 0; c < columns; ++c) {
        FLASHPAD_UNROLL
        for (int i = 0; i < 4; ++i) m_o[m][c][i] = 0;
      }
    }
    if (m_config.sign != 1) {
      FLASHPAD_UNROLL
      for (int m = 0; m < fragments; ++m) {
        FLASHPAD_UNROLL
        for (int c = 0; c < slices; ++c) {
          FLASHPAD_UNROLL
          for (int i = 0; i < 4; ++i) m_q[m][c].r[i] = Products::scaled(m_q[m][c].r[i], m_config.sign);
        }
      }
    }
  }

  /// Lets the first tiles come.
  FLASHPAD_PTX_FUNCTION void begin(KeyTiles const& keys, int tile) {
    ptx::sync_team();  // the queries are out of the memory
    m_stage = Tiling::stages - 1;
    FLASHPAD_UNROLL
    for (int i = 0; i + 1 < Tiling::stages; ++i) fetch(source(keys, tile + i), i);
  }

  /// Makes a tile readable, and lets one more come to where the last one was. Where that one lies is found
  /// before the barrier, where a warp waits anyway.
  FLASHPAD_PTX_FUNCTION void bring(KeyTiles const& keys, int tile) {
    int const free = m_stage;
    m_stage = m_stage + 1 == Tiling::stages ? 0 : m_stage + 1;
    Source const next = source(keys, tile + Tiling::stages - 1);
    ptx::copy_async_wait<Tiling::stages - 2>();
    ptx::sync_team();  // everyone's copies are there, and everyone is done with the last tile
    fetch(next, free);
  }

  FLASHPAD_PTX_FUNCTION void scores(int, int first, int) {
    std::uint32_t const from = tile_at(first) + m_key_lane;
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int j = 0; j < key_columns; ++j) {
        FLASHPAD_UNROLL
        for (int i = 0; i < 4; ++i) m_s[m][j][i] = 0;
      }
    }
    FLASHPAD_UNROLL
    for (int c = 0; c < slices; ++c) {
      typename Products::A q[fragments];
      FLASHPAD_UNROLL
      for (int m = 0; m < fragments; ++m) q[m] = Products::operand(m_q[m][c]);
      FLASHPAD_UNROLL
      for (int j = 0; j < key_columns; j += 2) {
        std::uint32_t r[4];
        ptx::load_matrices(r, from + static_cast<std::uint32_t>(j * 8 * pitch + c * 32));
        typename Products::B const left = Products::operand(r[0], r[1]);
        typename Products::B const right = Products::operand(r[2], r[3]);
        FLASHPAD_UNROLL
        for (int m = 0; m < fragments; ++m) {
          Products::multiply(m_s[m][j], q[m], left);
          Products::multiply(m_s[m][j + 1], q[m], right);
        }
      }
    }
  }

  /// Over the whole run, keys that do not exist included.
  template <class F>
  FLASHPAD_PTX_FUNCTION void for_each(int, int first, int, F const& f) {
    int const lane = ptx::lane_again();
    int const row = lane >> 2;
    int const key = first + (lane & 3) * 2;
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int j = 0; j < key_columns; ++j) {
        FLASHPAD_UNROLL
        for (int i = 0; i < 4; ++i) f(row + m * 16 + (i >> 1) * 8, key + j * 8 + (i & 1), m_s[m][j][i]);
      }
    }
  }

  /// P = 2^(scale * s - reference), where a row's reference is at most 8 below its largest scaled score so
  /// far: only then is it raised, and O rescaled. P stays below 2^8, in range of 16 bits, and most tiles need
  /// neither the maximum over the row's four lanes nor a rescale.
  ///
  /// -FLT_MAX is a reference and no sentinel: a finite score is never 8 below it, and -infinity gives P = 0.
  ///
  /// In one multiply-add an exponent has the rounding of its reference in it. That cancels in the division,
  /// but from 2^27 on it can be more than 8. References are rounded down, so that it is then seen as one more
  /// raise; and where raising does not help, products are rounded by themselves, in which equals cancel.
  FLASHPAD_PTX_FUNCTION void softmax(int, int) {
    float top[fragments][2];
    bool raise = false;
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int i = 0; i < 2; ++i) {
        top[m][i] = fmaxf(m_s[m][0][2 * i], m_s[m][0][2 * i + 1]);
        FLASHPAD_UNROLL
        for (int j = 1; j < key_columns; ++j) {
          top[m][i] = fmaxf(top[m][i], fmaxf(m_s[m][j][2 * i], m_s[m][j][2 * i + 1]));
        }
        raise = raise || fmaf(top[m][i], m_config.scale, -m_reference[m][i]) > m_config.slack;
      }
    }
    if (ptx::any_lane(raise) && raise_references(top)) {
      probabilities(
          [&](float s, float reference) { return ptx::product_down(s, m_config.scale) - reference; });
    } else {
      probabilities([&](float s, float reference) { return fmaf(s, m_config.scale, -reference); });
    }
  }

  FLASHPAD_PTX_FUNCTION void accumulate(int, int first, int) {
    std::uint32_t const from = tile_at(first) + m_value_lane;
    FLASHPAD_UNROLL
    for (int k = 0; k < Tiling::run / Products::step; ++k) {
      typename Products::A p[fragments];
      FLASHPAD_UNROLL
      for (int m = 0; m < fragments; ++m) p[m] = Products::probabilities(m_s[m], k);
      FLASHPAD_UNROLL
      for (int c = 0; c < columns; c += 2) {
        typename Products::B v[2];
        Products::values(
            v, from + static_cast<std::uint32_t>(k * Products::step * pitch + c * 8 * sizeof(Storage)),
            pitch);
        FLASHPAD_UNROLL
        for (int m = 0; m < fragments; ++m) {
          Products::multiply(m_o[m][c], p[m], v[0]);
          Products::multiply(m_o[m][c + 1], p[m], v[1]);
        }
      }
    }
  }

  FLASHPAD_PTX_FUNCTION void finish(FusedProblem const& p, WorkItem const& item, std::int64_t row_begin,
                                    int rows) {
    int const lane = ptx::lane_again();
    ptx::sync_team();  // the ring is free: O goes out through it
    int const first = m_warp * warp_rows;
    if (first >= rows) return;
    bool const partial = p.schedule.splits > 1;
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int i = 0; i < 2; ++i) {
        float sum = m_sum[m][i];
        sum += ptx::from_lane_xor(sum, 1);
        sum += ptx::from_lane_xor(sum, 2);
        int const row = first + m * 16 + i * 8 + (lane >> 2);
        if ((lane & 3) == 0 && row < rows) write_statistics(p, item, row_begin + row, m_reference[m][i], sum);
        float const factor = sum == 0 ? 0.0f : 1 / sum;
        FLASHPAD_UNROLL
        for (int c = 0; c < columns; ++c) {
          // A row without keys gives 0, not 0 * NaN of a value that only other rows see.
          m_o[m][c][2 * i] = sum == 0 ? 0.0f : m_o[m][c][2 * i] * factor;
          m_o[m][c][2 * i + 1] = sum == 0 ? 0.0f : m_o[m][c][2 * i + 1] * factor;
        }
      }
    }
    if (!p.with_values) return;
    if (partial) {
      store_partial(p, item, row_begin, first, rows);
    } else {
      store_output(p.o.row(item.batch, item.head, row_begin + first), p.o.stride_n, first, rows - first);
    }
  }

 private:
  static constexpr int fragments = Tiling::fragments;
  static constexpr int slices = Tiling::dim / Products::step;  ///< of 32 bytes of a row of Q or K
  static constexpr int key_columns = Tiling::run / 8;          ///< tiles of C among a run's scores
  static constexpr int columns = Tiling::dim / 8;              ///< tiles of C in O
  static constexpr int chunk = 16 / static_cast<int>(sizeof(Storage));
  static constexpr int row_chunks = Tiling::dim / chunk;
  static constexpr int no_tile = -65536;

  FLASHPAD_PTX_FUNCTION std::uint32_t tile_at(int first) const {
    return m_base + static_cast<std::uint32_t>(m_stage * stage_bytes + first * pitch);
  }

  /// How threads share a copy: so many neighbours share a row, and so many rows are copied at a time.
  static constexpr unsigned row_threads = row_chunks % 16 == 0 ? 16 : row_chunks % 8 == 0 ? 8 : 4;

  /// A thread's part of a tile: its first 16 bytes of K and of V, and how many rows there are from its own
  /// on; none where the tile does not exist.
  struct Source {
    char const* k;
    char const* v;
    int rows;
  };

  /// `keys` lie in scratch memory (setup): two loads, neither of which waits for the other.
  FLASHPAD_PTX_FUNCTION Source source(KeyTiles const& keys, int tile) const {
    static_assert(offsetof(KeyTiles, k) == 0 && offsetof(KeyTiles, v) == 8 &&
                  offsetof(KeyTiles, tile_keys) == 16);
    std::uint32_t rows_at[4];
    std::uint32_t counts[4];
    ptx::load_shared(rows_at, ptx::shared_address(&keys));
    ptx::load_shared(counts, ptx::shared_address(&keys) + 16);
    auto const thread = static_cast<std::uint32_t>(m_warp * 32 + ptx::lane_again());
    auto const row = static_cast<int>(thread / row_threads);
    std::uint32_t const column = thread % row_threads * 16;
    // Strides by way of the kernel's arguments, which cost no load.
    std::int64_t const rows_before = static_cast<std::int64_t>(tile) * m_problem.tile_k + row;
    auto const whole = static_cast<int>(counts[1]);
    auto const rest = static_cast<int>(counts[2]);
    auto const end = static_cast<int>(counts[3]);
    int const here = (tile < whole ? m_problem.tile_k : rest) - row;
    return {pointer(rows_at[0], rows_at[1]) + rows_before * m_problem.k.stride_n + column,
            pointer(rows_at[2], rows_at[3]) + rows_before * m_problem.v.stride_n + column,
            tile < end ? here : no_tile};
  }

  FLASHPAD_PTX_FUNCTION static char const* pointer(std::uint32_t low, std::uint32_t high) {
    return reinterpret_cast<char const*>(static_cast<std::uintptr_t>(high) << 32 | low);
  }

  FLASHPAD_PTX_FUNCTION void fetch(Source const& from, int stage) const {
    if (from.rows > no_tile) {
      auto const thread = static_cast<std::uint32_t>(m_warp * 32 + ptx::lane_again());
      std::uint32_t const to = m_base + static_cast<std::uint32_t>(stage * stage_bytes) +
                               thread / row_threads * pitch + thread % row_threads * 16;
      copy_rows<Tiling::keys, max_threads>(to, from.k, m_problem.k.stride_n, from.rows, m_config.key_chunks,
                                           thread);
      if (m_config.value_chunks > 0) {
        copy_rows<Tiling::keys, max_threads>(to + Tiling::stages * stage_bytes, from.v, m_problem.v.stride_n,
                                             from.rows, m_config.value_chunks, thread);
      }
    }
    ptx::copy_async_commit();
  }

  FLASHPAD_PTX_FUNCTION static bool aligned(char const* pointer, std::int64_t stride) {
    return ((static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pointer)) |
             static_cast<std::uint32_t>(stride)) &
            15) == 0;
  }

  /// Copies a thread's part of `Rows` rows to scratch memory, from its own row on; what lies beyond `rows` or
  /// `chunks` units of 16 bytes becomes zero.
  template <int Rows, int Threads>
  FLASHPAD_PTX_FUNCTION static void copy_rows(std::uint32_t to, char const* from, std::int64_t stride,
                                              int rows, int chunks, std::uint32_t thread) {
    constexpr int row_step = Threads / static_cast<int>(row_threads);
    constexpr int columns_apart = static_cast<int>(row_threads);
    constexpr int passes = Rows / row_step;
    static_assert(Rows % row_step == 0 && row_chunks % columns_apart == 0);
    auto const first = static_cast<int>(thread % row_threads);
    if (rows > Rows - row_step && aligned(from, stride)) {
      FLASHPAD_UNROLL
      for (int i = 0; i < passes; ++i) {
        FLASHPAD_UNROLL
        for (int j = 0; j < row_chunks / columns_apart; ++j) {
          ptx::copy_async(to + static_cast<std::uint32_t>(i * row_step * pitch + j * columns_apart * 16),
                          from + j * columns_apart * 16, first + j * columns_apart < chunks ? 16 : 0);
        }
        from += row_step * stride;
      }
      return;
    }
    FLASHPAD_KEEP_LOOP
    for (int i = 0; i < passes; ++i) {
      FLASHPAD_KEEP_LOOP
      for (int j = 0; j < row_chunks; j += columns_apart) {
        bool const real = i * row_step < rows && first + j < chunks;
        if (aligned(from, stride)) {
          ptx::copy_async(to + static_cast<std::uint32_t>(j * 16), from + j * 16, real ? 16 : 0);
        } else {
          std::uint32_t words[4] = {0, 0, 0, 0};
          if (real) Products::load_words(words, from + j * 16);
          ptx::store_shared(to + static_cast<std::uint32_t>(j * 16), words);
        }
      }
      from += row_step * stride;
      to += static_cast<std::uint32_t>(row_step * pitch);
    }
  }

  /// Scores to P = 2^exponent, and their sums.
  template <class Exponent>
  FLASHPAD_PTX_FUNCTION void probabilities(Exponent const& exponent) {
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int j = 0; j < key_columns; ++j) {
        FLASHPAD_UNROLL
        for (int i = 0; i < 4; ++i) {
          float const p = ptx::exp2_approx(exponent(m_s[m][j][i], m_reference[m][i >> 1]));
          m_s[m][j][i] = p;
          m_sum[m][i >> 1] += p;
        }
      }
    }
  }

  /// Whether some row of the warp is so far out that its reference cannot be told from its maximum.
  FLASHPAD_PTX_FUNCTION bool raise_references(float (&top)[fragments][2]) {
    bool far = false;
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int i = 0; i < 2; ++i) {
        float max = fmaxf(top[m][i], ptx::from_lane_xor(top[m][i], 1));
        max = fmaxf(max, ptx::from_lane_xor(max, 2));
        float const reference = fmaxf(m_reference[m][i], ptx::product_down(max, m_config.scale));
        float const factor = ptx::exp2_approx(m_reference[m][i] - reference);
        m_reference[m][i] = reference;
        far = far || fmaf(max, m_config.scale, -reference) > 8.0f;
        m_sum[m][i] *= factor;
        FLASHPAD_UNROLL
        for (int c = 0; c < columns; ++c) {
          m_o[m][c][2 * i] *= factor;
          m_o[m][c][2 * i + 1] *= factor;
        }
      }
    }
    return ptx::any_lane(far);
  }

  FLASHPAD_PTX_FUNCTION static void write_statistics(FusedProblem const& p, WorkItem const& item,
                                                     std::int64_t row, float reference, float sum) {
    constexpr auto ln_2 = static_cast<float>(log_unit);
    // A row that saw no key, or -infinity alone.
    float const max = sum == 0 ? -HUGE_VALF : reference;
    if (p.schedule.splits > 1) {  // in powers of two: the merge takes differences, which are exact
      std::int64_t const at = p.partial_row(item, row);
      static_cast<float*>(p.partials.max)[at] = max;
      static_cast<float*>(p.partials.sum)[at] = sum;
      return;
    }
    if (p.lse.data != nullptr) {
      p.lse.element<float>(item.batch, item.head, row) = sum == 0 ? max : max * ln_2 + logf(sum);
    }
    if (p.max.data != nullptr) p.max.element<float>(item.batch, item.head, row) = max * ln_2;
    if (p.sum.data != nullptr) p.sum.element<float>(item.batch, item.head, row) = sum;
  }

  FLASHPAD_PTX_FUNCTION void store_partial(FusedProblem const& p, WorkItem const& item,
                                           std::int64_t row_begin, int first, int rows) const {
    int const lane = ptx::lane_again();
    int const value_dim = static_cast<int>(p.shape.value_dim);
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int i = 0; i < 2; ++i) {
        int const row = first + m * 16 + i * 8 + (lane >> 2);
        if (row >= rows) continue;
        float* const to =
            static_cast<float*>(p.partials.o) + p.partial_row(item, row_begin + row) * value_dim;
        FLASHPAD_UNROLL
        for (int c = 0; c < columns; ++c) {
          int const column = c * 8 + (lane & 3) * 2;
          if (column >= value_dim) continue;
          to[column] = m_o[m][c][2 * i];
          to[column + 1] = m_o[m][c][2 * i + 1];
        }
      }
    }
  }

  /// Through scratch memory, so that a row leaves in units of 16 bytes.
  FLASHPAD_PTX_FUNCTION void store_output(char* rows_of_o, std::int64_t stride, int first, int rows) const {
    int const lane = ptx::lane_again();
    std::uint32_t const region = m_base + static_cast<std::uint32_t>(first * pitch);
    FLASHPAD_UNROLL
    for (int m = 0; m < fragments; ++m) {
      FLASHPAD_UNROLL
      for (int i = 0; i < 2; ++i) {
        std::uint32_t const to =
            region + static_cast<std::uint32_t>((m * 16 + i * 8 + (lane >> 2)) * pitch +
                                                (lane & 3) * 2 * static_cast<int>(sizeof(Storage)));
        FLASHPAD_UNROLL
        for (int c = 0; c < columns; ++c) {
          Products::store_pair(to + static_cast<std::uint32_t>(c * 8 * sizeof(Storage)), m_o[m][c][2 * i],
                               m_o[m][c][2 * i + 1]);
        }
      }
    }
    ptx::sync_warp();
    for (int index = lane; index < warp_rows * row_chunks; index += 32) {
      int const row = index / row_chunks;
      int const at = index % row_chunks;
      if (row >= rows || at >= m_config.value_chunks) continue;
      std::uint32_t words[4];
      ptx::load_shared(words, region + static_cast<std::uint32_t>(row * pitch + at * 16));
      char* const to = rows_of_o + row * stride + at * 16;
      if (aligned(to, stride)) {
        ptx::store_global(to, words);
      } else {
        Products::store_words(to, words);
      }
    }
  }

  Member const& m_team;
  FusedProblem const& m_problem;
  Config const& m_config;
  int m_warp;
  std::uint32_t m_base;
  int m_stage = 0;
  std::uint32_t m_key_lane;
  std::uint32_t m_value_lane;
  detail::Fragment<4> m_q[fragments][slices];
  float m_s[fragments][key_columns][4];
  float m_o[fragments][columns][4];
  float m_reference[fragments][2];
  float m_sum[fragments][2];
};

}  // namespace flashpad::engines
