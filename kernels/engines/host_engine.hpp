// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/engines/host_table.hpp"
#include "kernels/fused/fused_problem.hpp"
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
  static constexpr int stages = 1;
  static constexpr int max_threads = 1;

  struct Config {
    HostTable<T> table;
    int scratch_level = 1;
  };

  /// Sizes in elements of the parts of a team's memory, each a whole number of cache lines.
  struct Parts {
    std::size_t q, acc, k, v, s, statistic;

    KOKKOS_FUNCTION std::size_t bytes() const {
      return (q + acc + k + v + s + 3 * statistic) * sizeof(T) + alignment;
    }
  };

  KOKKOS_FUNCTION static Parts parts(Shape const& shape, HostTable<T> const& table, int tile_q, int tile_k,
                                     bool with_values) {
    auto const lanes = static_cast<std::size_t>(table.lanes);
    auto const rows = round_up(static_cast<std::size_t>(tile_q), lanes);
    // A run of keys may begin anywhere in the tile, and its products are made in whole units.
    auto const keys = static_cast<std::size_t>(tile_k) + static_cast<std::size_t>(table.key_unit);
    auto const head_dim = static_cast<std::size_t>(shape.head_dim);
    auto const value_dim = with_values ? static_cast<std::size_t>(shape.value_dim) : 0;
    return {line(rows * head_dim),  line(rows * value_dim), line(keys * head_dim),
            line(keys * value_dim), line(keys * lanes),     line(rows)};
  }

  template <class Member>
  KOKKOS_FUNCTION HostEngine(Member const& team, FusedProblem const& problem, Config const& config)
      : m_table(config.table),
        m_scale(static_cast<T>(problem.scale)),
        m_head_dim(static_cast<int>(problem.shape.head_dim)),
        m_value_dim(problem.with_values ? static_cast<int>(problem.shape.value_dim) : 0) {
    Parts const size = parts(problem.shape, m_table, problem.tile_q, problem.tile_k, problem.with_values);
    auto* next = static_cast<T*>(team.team_scratch(config.scratch_level)
                                     .get_shmem_aligned(static_cast<std::ptrdiff_t>(size.bytes() - alignment),
                                                        static_cast<std::ptrdiff_t>(alignment)));
    auto const take = [&next](std::size_t elements) {
      T* const part = next;
      next += elements;
      return part;
    };
    m_q = take(size.q);
    m_acc = take(size.acc);
    m_k = take(size.k);
    m_v = take(size.v);
    m_s = take(size.s);
    m_max = take(size.statistic);
    m_sum = take(size.statistic);
    m_alpha = take(size.statistic);
  }

  KOKKOS_FUNCTION int block_rows() const { return m_table.lanes; }
  KOKKOS_FUNCTION int row_blocks(int rows) const { return (rows + m_table.lanes - 1) / m_table.lanes; }

  KOKKOS_FUNCTION void load_queries(char const* rows_of_q, std::int64_t stride, int rows) {
    int const blocks = row_blocks(rows);
    int const lanes = m_table.lanes;
    for (int block = 0; block < blocks; ++block) {
      int const first = block * lanes;
      int const here = rows - first < lanes ? rows - first : lanes;
      m_table.load_queries(rows_of_q + first * stride, stride, here, m_head_dim, q(block));
    }
    for (int i = 0; i < blocks * lanes; ++i) {
      m_max[i] = -Kokkos::Experimental::infinity<T>::value;
      m_sum[i] = 0;
    }
    for (int i = 0; i < blocks * lanes * m_value_dim; ++i) m_acc[i] = 0;
  }

  KOKKOS_FUNCTION void fetch_keys(std::int64_t, char const* rows, std::int64_t stride, int n) {
    m_table.load_keys(rows, stride, n, m_head_dim, m_k);
  }
  KOKKOS_FUNCTION void wait_keys(std::int64_t) const {}
  KOKKOS_FUNCTION void release_keys(std::int64_t) const {}

  KOKKOS_FUNCTION void fetch_values(std::int64_t, char const* rows, std::int64_t stride, int n) {
    m_table.load_keys(rows, stride, n, m_value_dim, m_v);
  }
  KOKKOS_FUNCTION void wait_values(std::int64_t) const {}
  KOKKOS_FUNCTION void release_values(std::int64_t) const {}

  KOKKOS_FUNCTION void scores(int block, int first, int n) {
    m_table.scores(q(block), m_k + first * m_head_dim, n, m_head_dim, m_scale, m_s);
  }

  template <class F>
  KOKKOS_FUNCTION void for_each(int, int first, int n, F const& f) {
    int const lanes = m_table.lanes;
    for (int j = 0; j < n; ++j) {
      for (int r = 0; r < lanes; ++r) f(r, first + j, m_s[j * lanes + r]);
    }
  }

  KOKKOS_FUNCTION void softmax(int block, int n) {
    int const at = block * m_table.lanes;
    bool const moved = m_table.softmax(m_s, n, m_max + at, m_sum + at, m_alpha + at);
    if (moved && m_value_dim > 0) m_table.rescale(m_alpha + at, m_value_dim, acc(block));
  }

  KOKKOS_FUNCTION void accumulate(int block, int first, int n) {
    m_table.accumulate(m_s, m_v + first * m_value_dim, n, m_value_dim, acc(block));
  }

  KOKKOS_FUNCTION void finish(FusedProblem const& p, WorkItem const& item, std::int64_t row_begin, int rows) {
    int const lanes = m_table.lanes;
    bool const partial = p.schedule.splits > 1;
    for (int first = 0; first < rows; first += lanes) {
      int const here = rows - first < lanes ? rows - first : lanes;
      std::int64_t const row = row_begin + first;
      if (!p.with_values) continue;
      if (partial) {
        store_partial(p, p.partial_row(item, row), first, here);
      } else {
        m_table.store_output(acc(first / lanes), m_sum + first, here, m_value_dim,
                             p.o.row(item.batch, item.head, row), p.o.stride_n);
      }
    }
    for (int r = 0; r < rows; ++r) {
      std::int64_t const row = row_begin + r;
      if (partial) {
        static_cast<T*>(p.partials.max)[p.partial_row(item, row)] = m_max[r];
        static_cast<T*>(p.partials.sum)[p.partial_row(item, row)] = m_sum[r];
        continue;
      }
      if (p.lse.data != nullptr)
        p.lse.element<T>(item.batch, item.head, row) = log_sum_exp(m_max[r], m_sum[r]);
      if (p.max.data != nullptr) p.max.element<T>(item.batch, item.head, row) = m_max[r];
      if (p.sum.data != nullptr) p.sum.element<T>(item.batch, item.head, row) = m_sum[r];
    }
  }

 private:
  static constexpr std::size_t alignment = 64;

  KOKKOS_FUNCTION static std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
  }
  KOKKOS_FUNCTION static std::size_t line(std::size_t elements) {
    return round_up(elements, alignment / sizeof(T));
  }

  KOKKOS_FUNCTION T* q(int block) const { return m_q + block * m_table.lanes * m_head_dim; }
  KOKKOS_FUNCTION T* acc(int block) const { return m_acc + block * m_table.lanes * m_value_dim; }

  KOKKOS_FUNCTION void store_partial(FusedProblem const& p, std::int64_t partial_row, int first,
                                     int rows) const {
    int const lanes = m_table.lanes;
    T const* from = acc(first / lanes);
    T* to = static_cast<T*>(p.partials.o) + partial_row * m_value_dim;
    for (int r = 0; r < rows; ++r) {
      T const sum = m_sum[first + r];
      for (int c = 0; c < m_value_dim; ++c)
        to[r * m_value_dim + c] = sum == 0 ? T{0} : from[c * lanes + r] / sum;
    }
  }

  HostTable<T> const& m_table;
  T m_scale;
  int m_head_dim;
  int m_value_dim;
  T* m_q;
  T* m_acc;
  T* m_k;
  T* m_v;
  T* m_s;
  T* m_max;
  T* m_sum;
  T* m_alpha;
};

}  // namespace flashpad::engines
