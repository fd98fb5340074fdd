// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>

#include <Kokkos_Core.hpp>

#include "kernels/engines/host_table.hpp"
#include "kernels/fused/fused_problem.hpp"
#include "kernels/fused/key_tiles.hpp"
#include "kernels/softmax_math.hpp"

#include <cmath>
#include <cstddef>

namespace flashpad::engines {

/// Engine of the host: a team is one thread that owns many query rows, in blocks of as many rows as the
/// instruction set's vectors hold. One packed tile of K and V serves all blocks; one block of scores, small
/// enough for the first-level cache, is used and used again. The arithmetic is behind a table (HostTable).
template <class T>
class HostEngine {
 public:
  using Compute = T;
  static constexpr int max_threads = 1;
  static constexpr int min_teams = 1;
  static constexpr int run_keys = max_tile;
  static constexpr bool one_run = true;
  static constexpr int score_unit = 1;
  static constexpr double log_unit = 1;
  static constexpr bool masks_by_itself = true;

  struct Config {
    HostTable<T> table;
    HostTable<T> any;  ///< multiplies what `table` does not take, in no more memory
    int scratch_level = 1;
  };

  /// Sizes in bytes of the parts of a team's memory, each a whole number of cache lines.
  struct Parts {
    std::size_t q, acc, k, v, s, statistic;

    KOKKOS_FUNCTION std::size_t bytes() const { return q + acc + k + v + s + 4 * statistic + alignment; }
  };

  KOKKOS_FUNCTION static Parts parts(Shape const& shape, HostTable<T> const& table, int tile_q, int tile_k,
                                     bool with_values) {
    auto const lanes = static_cast<std::size_t>(table.lanes);
    auto const operand = static_cast<std::size_t>(table.operand_bytes);
    auto const rows = round_up(static_cast<std::size_t>(tile_q), lanes);
    auto const keys = round_up(static_cast<std::size_t>(tile_k), static_cast<std::size_t>(table.group));
    auto const head_dim = static_cast<std::size_t>(shape.head_dim);
    auto const value_dim = with_values ? static_cast<std::size_t>(shape.value_dim) : 0;
    return {line(rows * head_dim * operand),
            line(rows * value_dim * sizeof(T)),
            table.keys_are_operands ? 0 : line(keys * head_dim * operand),
            table.values_are_operands ? 0 : line(keys * value_dim * operand),
            (table.softmax_meanwhile != nullptr ? 2 : 1) *
                line(keys * lanes * static_cast<std::size_t>(table.score_bytes)),
            line(rows * sizeof(T))};
  }

  template <class Member>
  KOKKOS_FUNCTION HostEngine(Member const& team, FusedProblem const& problem, Config const& config)
      : m_table(&config.table),
        m_any(config.any),
        m_scale(static_cast<T>(problem.scale)),
        m_head_dim(static_cast<int>(problem.shape.head_dim)),
        m_value_dim(problem.with_values ? static_cast<int>(problem.shape.value_dim) : 0) {
    // The softmax scales by a positive factor, so that the greatest product has the greatest score. The sign,
    // or a scale of 0, is taken into Q.
    m_sign = m_scale < 0 ? T{-1} : m_scale == 0 ? T{0} : T{1};
    m_scale = m_scale < 0 ? -m_scale : m_scale == 0 ? T{1} : m_scale;
    bool const exact = problem.max.data != nullptr || problem.sum.data != nullptr || !problem.with_values;
    if (!exact && m_scale > least_scale_with_slack) m_slack = static_cast<T>(config.table.slack) / m_scale;
    Parts const size =
        parts(problem.shape, config.table, problem.tile_q, problem.tile_k, problem.with_values);
    auto* next =
        static_cast<char*>(team.team_scratch(config.scratch_level)
                               .get_shmem_aligned(static_cast<std::ptrdiff_t>(size.bytes() - alignment),
                                                  static_cast<std::ptrdiff_t>(alignment)));
    auto const take = [&next](std::size_t bytes) {
      char* const part = next;
      next += bytes;
      return part;
    };
    m_q = take(size.q);
    m_acc = reinterpret_cast<T*>(take(size.acc));
    m_own_k = take(size.k);
    m_own_v = take(size.v);
    m_s = m_other_s = reinterpret_cast<T*>(take(size.s));
    if (m_table->softmax_meanwhile != nullptr) m_other_s += size.s / sizeof(T) / 2;
    m_max = reinterpret_cast<T*>(take(size.statistic));
    m_sum = reinterpret_cast<T*>(take(size.statistic));
    m_alpha = reinterpret_cast<T*>(take(size.statistic));
    m_tile_max = reinterpret_cast<T*>(take(size.statistic));
  }

  template <class F>
  KOKKOS_FUNCTION static auto setup(F const& make) {
    return make();
  }
  KOKKOS_FUNCTION int key_unit() const { return m_table->group; }
  KOKKOS_FUNCTION int block_rows() const { return m_table->lanes; }
  KOKKOS_FUNCTION static int first_block() { return 0; }
  KOKKOS_FUNCTION int end_block(int rows) const { return (rows + m_table->lanes - 1) / m_table->lanes; }

  KOKKOS_FUNCTION void load_queries(char const* rows_of_q, std::int64_t stride, int rows) {
    int const blocks = end_block(rows);
    int const lanes = m_table->lanes;
    m_blocks = blocks;
    m_queries = {rows_of_q, stride, rows, 0};
    if (!takes(rows_of_q, stride, rows, m_head_dim)) m_table = &m_any;
    transpose_queries();
    for (int i = 0; i < blocks * lanes; ++i) {
      m_max[i] = -Kokkos::Experimental::infinity<T>::value;
      m_sum[i] = 0;
    }
  }

  KOKKOS_FUNCTION void begin(KeyTiles const&, int) const {}

  /// Rows that the micro-kernels read as they are stay where they are.
  KOKKOS_FUNCTION void bring(KeyTiles const& keys, int tile) {
    multiply_deferred();
    int const n = keys.count(tile);
    char const* const k = keys.k_rows(tile);
    if (!takes(k, keys.k_stride, n, m_head_dim) ||
        (m_value_dim > 0 && !takes(keys.v_rows(tile), keys.v_stride, n, m_value_dim))) {
      m_table = &m_any;
      transpose_queries();
    }
    m_next_k = {k + n * keys.k_stride, keys.k_stride, n, m_head_dim * m_table->storage_bytes};
    if (m_table->keys_are_operands) {
      m_k = k;
      m_k_stride = keys.k_stride;
    } else {
      m_k = m_own_k;
      m_k_stride = static_cast<std::int64_t>(m_table->operand_bytes) * m_head_dim;
      m_table->load_keys(k, keys.k_stride, n, m_head_dim, m_own_k);
    }
    if (m_value_dim == 0) return;
    char const* const v = keys.v_rows(tile);
    m_next_v = {v + n * keys.v_stride, keys.v_stride, n, m_value_dim * m_table->storage_bytes};
    if (m_table->values_are_operands) {
      m_v = v;
      m_v_stride = keys.v_stride;
    } else {
      m_v = m_own_v;
      m_v_stride = static_cast<std::int64_t>(m_table->operand_bytes) * m_table->group * m_value_dim;
      m_table->load_values(v, keys.v_stride, n, m_value_dim, m_own_v);
    }
  }

  KOKKOS_FUNCTION void scores(int block, int first, int n) {
    prefetch(m_next_k, block);
    m_table->scores(q(block), m_k + first * m_k_stride, m_k_stride, n, m_head_dim, m_s, m_tile_max);
  }

  /// Hides what `band`, in the coordinates of the block's first row and the tile's first key, does not show.
  KOKKOS_FUNCTION void mask(int, int first, int n, TileBand const& band) {
    m_table->mask(m_s, n, band.low - first, band.high - first, m_tile_max);
  }

  KOKKOS_FUNCTION void softmax(int block, int n) {
    int const at = block * m_table->lanes;
    if (m_slack > 0 && reference_stays(m_max + at)) {
      for (int r = 0; r < m_table->lanes; ++r) m_tile_max[r] = m_max[at + r];
    }
    if (m_deferred.n > 0) {
      m_rescale = m_table->softmax_meanwhile(m_s, n, m_scale, m_tile_max, m_max + at, m_sum + at,
                                             m_alpha + at, m_deferred);
      m_deferred.n = 0;
    } else {
      m_rescale = m_table->softmax(m_s, n, m_scale, m_tile_max, m_max + at, m_sum + at, m_alpha + at);
    }
  }

  /// Where another unit multiplies, the product waits for the next block's softmax, and P where it is.
  KOKKOS_FUNCTION void accumulate(int block, int first, int n) {
    prefetch(m_next_v, block);
    m_deferred = {m_s,       m_v + first / m_table->group * m_v_stride, m_v_stride, n, m_value_dim,
                  m_rescale, m_alpha + block * m_table->lanes,          acc(block)};
    if (m_table->softmax_meanwhile == nullptr) return multiply_deferred();
    T* const s = m_s;
    m_s = m_other_s;
    m_other_s = s;
  }

  KOKKOS_FUNCTION void finish(FusedProblem const& p, WorkItem const& item, std::int64_t row_begin, int rows) {
    multiply_deferred();
    int const lanes = m_table->lanes;
    bool const partial = p.schedule.splits > 1;
    for (int first = 0; first < rows; first += lanes) {
      int const here = rows - first < lanes ? rows - first : lanes;
      std::int64_t const row = row_begin + first;
      if (!p.with_values) continue;
      if (partial) {
        store_partial(p, p.partial_row(item, row), first, here);
      } else {
        m_table->store_output(acc(first / lanes), m_sum + first, here, m_value_dim,
                              p.o.row(item.batch, item.head, row), p.o.stride_n);
      }
    }
    for (int r = 0; r < rows; ++r) {
      std::int64_t const row = row_begin + r;
      T const max = m_max[r] * m_scale;
      if (partial) {
        static_cast<T*>(p.partials.max)[p.partial_row(item, row)] = max;
        static_cast<T*>(p.partials.sum)[p.partial_row(item, row)] = m_sum[r];
        continue;
      }
      if (p.lse.data != nullptr) p.lse.element<T>(item.batch, item.head, row) = log_sum_exp(max, m_sum[r]);
      if (p.max.data != nullptr) p.max.element<T>(item.batch, item.head, row) = max;
      if (p.sum.data != nullptr) p.sum.element<T>(item.batch, item.head, row) = m_sum[r];
    }
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr T least_scale_with_slack = static_cast<T>(1e-6);  ///< what slack / scale is stays finite

  KOKKOS_FUNCTION static std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
  }
  KOKKOS_FUNCTION static std::size_t line(std::size_t bytes) { return round_up(bytes, alignment); }

  KOKKOS_FUNCTION bool takes(char const* rows, std::int64_t stride, int n, int dim) const {
    return m_table->takes == nullptr || m_table->takes(rows, stride, n, dim);
  }

  KOKKOS_FUNCTION void transpose_queries() {
    int const lanes = m_table->lanes;
    for (int block = 0; block < m_blocks; ++block) {
      int const first = block * lanes;
      int const here = m_queries.count - first < lanes ? m_queries.count - first : lanes;
      m_table->load_queries(m_queries.first + first * m_queries.stride, m_queries.stride, here, m_head_dim,
                            m_sign, q(block));
    }
  }

  /// Whether the scores of all rows lie little above their references, if at all: then these stay, as a new
  /// one costs a pass over the accumulator, and one of many rows nearly always has a greater score. Weights
  /// above one change nothing but the range. False for NaN, and for a row's first scores.
  KOKKOS_FUNCTION bool reference_stays(T const* reference) const {
    bool stays = true;
    for (int r = 0; r < m_table->lanes; ++r) stays &= m_tile_max[r] <= reference[r] + m_slack;
    return stays;
  }

  KOKKOS_FUNCTION void multiply_deferred() {
    HostProduct<T> const& of = m_deferred;
    if (of.n == 0) return;
    m_table->accumulate(of.p, of.v, of.stride, of.n, of.dim, of.rescale, of.alpha, of.acc);
    m_deferred.n = 0;
  }

  KOKKOS_FUNCTION char* q(int block) const {
    return m_q + block * m_table->lanes * m_head_dim * m_table->operand_bytes;
  }
  KOKKOS_FUNCTION T* acc(int block) const { return m_acc + block * m_table->lanes * m_value_dim; }

  KOKKOS_FUNCTION void store_partial(FusedProblem const& p, std::int64_t partial_row, int first,
                                     int rows) const {
    int const lanes = m_table->lanes;
    T const* from = acc(first / lanes);
    T* to = static_cast<T*>(p.partials.o) + partial_row * m_value_dim;
    for (int r = 0; r < rows; ++r) {
      T const sum = m_sum[first + r];
      for (int c = 0; c < m_value_dim; ++c)
        to[r * m_value_dim + c] = sum == 0 ? T{0} : from[c * lanes + r] / sum;
    }
  }

  /// Rows of K or V that the next tile is likely to have; past the last key's, another head's or nobody's,
  /// which a prefetch may name.
  struct Rows {
    char const* first = nullptr;
    std::int64_t stride = 0;
    int count = 0;
    int bytes = 0;
  };

  /// Brings a block's share of the next tile to the second-level cache: asked for all at once, its lines
  /// would wait for each other and hold up the products.
  KOKKOS_FUNCTION void prefetch([[maybe_unused]] Rows const& rows, [[maybe_unused]] int block) const {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
    if (!m_table->asks_ahead) return;
    constexpr int line_bytes = 64;
    int const end = rows.count * (block + 1) / m_blocks;
    for (int row = rows.count * block / m_blocks; row < end; ++row) {
      char const* const at = rows.first + row * rows.stride;
      for (int byte = 0; byte < rows.bytes; byte += line_bytes) __builtin_prefetch(at + byte, 0, 2);
    }
#endif
  }

  HostTable<T> const* m_table;  ///< that of what is left of the walk: state and sums are alike in both
  HostTable<T> const& m_any;
  T m_scale;
  T m_sign;
  T m_slack = 0;  ///< what scores, without scale, may lie above m_max
  int m_head_dim;
  int m_value_dim;
  char* m_q;
  T* m_acc;
  char* m_own_k;
  char* m_own_v;
  T* m_s;
  T* m_other_s;  ///< the last block's P while its product is deferred
  T* m_max;
  T* m_sum;
  T* m_alpha;
  T* m_tile_max;
  char const* m_k = nullptr;  ///< the tile, here or in the caller's memory
  char const* m_v = nullptr;
  Rows m_queries;
  Rows m_next_k;
  Rows m_next_v;
  int m_blocks = 1;
  std::int64_t m_k_stride = 0;
  std::int64_t m_v_stride = 0;
  Rescale m_rescale = Rescale::none;  ///< what the last softmax asked for
  HostProduct<T> m_deferred;
};

}  // namespace flashpad::engines
