// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/engines/rows_table.hpp"
#include "kernels/fused/fused_problem.hpp"
#include "kernels/softmax_math.hpp"

#include <cstddef>
#include <limits>

namespace flashpad {

/// Fused attention for few query rows on the host. A team of one thread owns the rows of a query tile in all
/// query heads of one key/value head, and reads K and V, where they lie, once for all of them. Row r of the
/// team is query row r / heads of the tile, in query head r % heads: the rows of a block see nearly the same
/// keys. Same walk, variant, partial results and merge as FusedKernel; the schedule counts key/value heads.
template <class Exec, class T, class Schedule>
struct RowsKernel {
  using Policy = Kokkos::TeamPolicy<Exec, Schedule, Kokkos::LaunchBounds<1, 1>>;
  using Member = typename Policy::member_type;
  using Compute = T;
  static constexpr double log_unit = 1;

  struct Config {
    engines::RowsTable<T> table;
    int element_bytes = 0;
    int scratch_level = 1;
  };

  FusedProblem problem;
  Config config;

  /// Elements of the parts of a team's memory, each a whole number of cache lines.
  struct Parts {
    std::size_t q, acc, s, statistic;
    [[nodiscard]] std::size_t bytes() const { return (q + acc + s + 3 * statistic) * sizeof(T) + alignment; }
  };

  /// Query heads of one key/value head; 1 where there are none.
  static std::int64_t heads_of_team(Shape const& shape) {
    return shape.kv_heads > 0 ? shape.heads / shape.kv_heads : 1;
  }

  static Parts parts(FusedProblem const& p, engines::RowsTable<T> const& table) {
    auto const whole = [](std::int64_t value, std::int64_t unit) {
      return static_cast<std::size_t>((value + unit - 1) / unit * unit);
    };
    constexpr std::int64_t line = alignment / sizeof(T);
    auto const rows = static_cast<std::int64_t>(whole(p.tile_q * heads_of_team(p.shape), table.most_rows));
    auto const row_q = static_cast<std::int64_t>(whole(p.shape.head_dim, table.dim_unit));
    auto const row_acc = static_cast<std::int64_t>(whole(p.shape.value_dim, table.dim_unit));
    return {whole(rows * row_q, line), p.with_values ? whole(rows * row_acc, line) : 0,
            whole(static_cast<std::int64_t>(p.tile_k + table.key_unit) * table.most_rows, line),
            whole(rows, line)};
  }

  void operator()(Member const& team) const {
    FusedProblem const& p = problem;
    WorkItem const item = p.schedule.item(team.league_rank());
    std::int64_t const row_begin = item.query_tile * p.tile_q;
    std::int64_t const rows_left = p.shape.seq_q - row_begin;
    std::int64_t const rows = rows_left < p.tile_q ? rows_left : p.tile_q;
    TileWalk const walk = make_walk(p.variant, row_begin, row_begin + rows, p.tile_k, p.skip_hidden);
    KeyRange const tiles = split_tiles(walk.tiles, item.split, p.schedule.splits);

    Pass pass(team, p, config, item, row_begin, rows);
    pass.load_queries();
    for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      pass.visit(walk, tile, tile + 1 < tiles.end);
    }
    pass.finish();
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  /// One team's state and steps.
  class Pass {
   public:
    Pass(Member const& team, FusedProblem const& problem, Config const& config, WorkItem const& item,
         std::int64_t row_begin, std::int64_t rows)
        : p(problem),
          m_table(config.table),
          m_element(config.element_bytes),
          m_item(item),
          m_row_begin(row_begin),
          m_heads(static_cast<int>(heads_of_team(problem.shape))),
          m_rows(static_cast<int>(rows) * m_heads),
          m_head_dim(static_cast<int>(problem.shape.head_dim)),
          m_value_dim(static_cast<int>(problem.shape.value_dim)) {
      Parts const size = parts(problem, m_table);
      m_q = static_cast<T*>(team.team_scratch(config.scratch_level)
                                .get_shmem_aligned(static_cast<std::ptrdiff_t>(size.bytes() - alignment),
                                                   static_cast<std::ptrdiff_t>(alignment)));
      m_acc = m_q + size.q;
      m_s = m_acc + size.acc;
      m_max = m_s + size.s;
      m_sum = m_max + size.statistic;
      m_alpha = m_sum + size.statistic;
    }

    void load_queries() {
      for (int block = 0; block < m_rows; block += block_rows(block)) {
        int const count = block_rows(block);
        for (int r = 0; r < count; ++r) {
          bool const exists = block + r < m_rows;
          m_table.load_query[size_of(count)](
              exists ? p.q.row(m_item.batch, head(block + r), row(block + r)) : nullptr, m_head_dim, r,
              q(block));
          m_max[block + r] = -infinity;
          m_sum[block + r] = 0;
          if (!p.with_values) continue;
          for (int c = 0; c < padded(m_value_dim); ++c) acc(block + r)[c] = 0;
        }
      }
    }

    void visit(TileWalk const& walk, std::int64_t tile, bool more) {
      bool first_pass = true;  // the first block waits for memory, the others find the tile in cache
      for (int block = 0; block < m_rows; block += block_rows(block)) {
        std::int64_t begin = walk.begin(tile);
        std::int64_t end = walk.end(tile);
        bool const cut = walk.masked(tile) && narrow(block, begin, end);
        int const n = end > begin ? static_cast<int>(end - begin) : 0;
        if (n == 0) continue;
        bool const ahead = block_rows(block) >= m_table.least_ahead && (more || m_table.lead_bytes > 0);
        multiply(block, begin, n, cut, first_pass && ahead);
        first_pass = false;
      }
    }

    void finish() const {
      for (int r = 0; r < m_rows; ++r) {
        WorkItem item = m_item;
        item.head = head(r);
        if (p.schedule.splits > 1) {
          store_partial(r, p.partial_row(item, row(r)));
          continue;
        }
        if (p.with_values)
          m_table.store_output(acc(r), m_sum[r], m_value_dim, p.o.row(item.batch, item.head, row(r)));
        write(p.lse, item.head, row(r), log_sum_exp(m_max[r], m_sum[r]));
        write(p.max, item.head, row(r), m_max[r]);
        write(p.sum, item.head, row(r), m_sum[r]);
      }
    }

   private:
    [[nodiscard]] std::int64_t head(int r) const { return m_item.head * m_heads + r % m_heads; }
    [[nodiscard]] std::int64_t row(int r) const { return m_row_begin + r / m_heads; }
    [[nodiscard]] int padded(int dim) const {
      return (dim + m_table.dim_unit - 1) / m_table.dim_unit * m_table.dim_unit;
    }
    [[nodiscard]] T* q(int r) const { return m_q + r * padded(m_head_dim); }
    [[nodiscard]] T* acc(int r) const { return m_acc + r * padded(m_value_dim); }

    /// Rows of the block that begins at row r: the least power of two that holds what is left.
    [[nodiscard]] int block_rows(int r) const {
      int count = 1;
      while (count < m_table.most_rows && count < m_rows - r) count *= 2;
      return count;
    }

    /// Narrows [begin, end) to the keys that some row of the block sees; returns whether some row does not
    /// see them all.
    bool narrow(int block, std::int64_t& begin, std::int64_t& end) const {
      int const last = block + block_rows(block) <= m_rows ? block + block_rows(block) - 1 : m_rows - 1;
      KeyRange const all = p.variant.all(row(block), row(last) + 1);
      if (p.skip_hidden) {
        KeyRange const any = p.variant.any(row(block), row(last) + 1);
        begin = begin > any.begin ? begin : any.begin;
        end = end < any.end ? end : any.end;
      }
      return begin < all.begin || end > all.end;
    }

    void mask(int block, int count, std::int64_t begin, int n) const {
      auto const band = p.variant.tile(m_row_begin, begin);
      for (int j = 0; j < n; ++j) {
        for (int r = 0; r < count; ++r) {
          if (!band.visible((block + r) / m_heads, j)) m_s[j * count + r] = -infinity;
        }
      }
    }

    static int size_of(int count) {
      int size = 0;
      while (1 << size < count) ++size;
      return size;
    }

    /// `n` rows that will be multiplied after those from `key` on, and what the second-level cache may ask
    /// for behind them. Rows that touch are one long row.
    [[nodiscard]] engines::RowsAhead ahead(Operand const& of, int dim, std::int64_t key, int n) const {
      std::int64_t const bytes = static_cast<std::int64_t>(dim) * m_element;
      auto const rows = [bytes](int some) { return (some + bytes - 1) / bytes; };
      std::int64_t const lead = m_table.lead_bytes > 0 ? rows(m_table.lead_bytes) : p.tile_k;
      return {of.row(m_item.batch, m_item.head, key + lead), of.stride_n,
              of.stride_n == bytes ? n * bytes : bytes, rows(m_table.far_bytes) * of.stride_n};
    }

    /// n keys from `begin` on.
    void multiply(int block, std::int64_t begin, int n, bool cut, bool fetch_ahead) {
      int const size = size_of(block_rows(block));
      engines::RowsAhead keys, values;
      if (fetch_ahead) {
        keys = ahead(p.k, m_head_dim, begin, n);
        if (p.with_values) values = ahead(p.v, m_value_dim, begin, n);
      }
      m_table.scores[size](q(block), p.k.row(m_item.batch, m_item.head, begin), p.k.stride_n, n, m_head_dim,
                           static_cast<T>(p.scale), m_s, keys);
      // A guarded -infinity and no large negative number: a finite one would beat logits that are smaller.
      if (cut) mask(block, block_rows(block), begin, n);
      bool const moved = m_table.softmax[size](m_s, n, m_max + block, m_sum + block, m_alpha + block);
      if (!p.with_values) return;
      m_table.accumulate[size](m_s, p.v.row(m_item.batch, m_item.head, begin), p.v.stride_n, n, m_value_dim,
                               moved ? m_alpha + block : nullptr, acc(block), values);
    }

    void store_partial(int r, std::int64_t at) const {
      T const sum = m_sum[r];
      static_cast<T*>(p.partials.max)[at] = m_max[r];
      static_cast<T*>(p.partials.sum)[at] = sum;
      if (!p.with_values) return;
      m_table.store_partial(acc(r), sum, m_value_dim, static_cast<T*>(p.partials.o) + at * m_value_dim);
    }

    void write(Operand const& to, std::int64_t head, std::int64_t row, T value) const {
      if (to.data != nullptr) to.element<T>(m_item.batch, head, row) = value;
    }

    FusedProblem const& p;
    engines::RowsTable<T> const& m_table;
    int m_element;
    WorkItem m_item;
    std::int64_t m_row_begin;
    int m_heads;
    int m_rows;
    int m_head_dim;
    int m_value_dim;
    T* m_q;
    T* m_acc;
    T* m_s;
    T* m_max;
    T* m_sum;
    T* m_alpha;
  };
};

}  // namespace flashpad
