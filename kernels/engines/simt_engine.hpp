// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>

#include <Kokkos_Core.hpp>

#include "kernels/fused/fused_problem.hpp"
#include "kernels/fused/key_tiles.hpp"
#include "kernels/softmax_math.hpp"
#include "kokkos_ext/half.hpp"
#include "kokkos_ext/max_reducer.hpp"

#include <cmath>
#include <cstddef>

namespace flashpad::engines {

/// Engine for any team: all state in team scratch, one lane an element, no instruction of a particular
/// machine. It is what a GPU without an engine of its own runs, and it runs on the host, where it is tested.
///
/// A query row belongs to one thread of the team (its vector lanes share it), from scores to accumulator: the
/// team meets only where a tile of K or V changes hands.
template <class Exec, class Storage, class T>
class SimtEngine {
 public:
  using Compute = T;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int max_threads = 256;
  static constexpr int min_teams = 1;
  static constexpr int run_keys = max_tile;
  static constexpr bool one_run = true;
  static constexpr int score_unit = 1;
  static constexpr double log_unit = 1;
  static constexpr bool masks_by_itself = false;

  struct Config {
    int scratch_level = 0;
  };

  KOKKOS_FUNCTION static std::size_t scratch_bytes(FusedProblem const& p) {
    auto const rows = static_cast<std::size_t>(p.tile_q);
    auto const keys = static_cast<std::size_t>(p.tile_k);
    auto const head_dim = static_cast<std::size_t>(p.shape.head_dim);
    auto const value_dim = p.with_values ? static_cast<std::size_t>(p.shape.value_dim) : 0;
    return sizeof(T) *
           (rows * (head_dim + value_dim + keys + 2) + keys * (head_dim + key_padding + value_dim));
  }

  KOKKOS_FUNCTION SimtEngine(Member const& team, FusedProblem const& p, Config const& config)
      : m_team(team),
        m_scale(static_cast<T>(p.scale)),
        m_tile_k(p.tile_k),
        m_head_dim(static_cast<int>(p.shape.head_dim)),
        m_value_dim(p.with_values ? static_cast<int>(p.shape.value_dim) : 0) {
    T* next = static_cast<T*>(team.team_scratch(config.scratch_level)
                                  .get_shmem_aligned(static_cast<std::ptrdiff_t>(scratch_bytes(p)),
                                                     static_cast<std::ptrdiff_t>(alignment)));
    m_q = next;
    m_acc = m_q + p.tile_q * m_head_dim;
    m_s = m_acc + p.tile_q * m_value_dim;
    m_max = m_s + p.tile_q * m_tile_k;
    m_sum = m_max + p.tile_q;
    m_k = m_sum + p.tile_q;
    m_v = m_k + m_tile_k * (m_head_dim + key_padding);
  }

  static constexpr std::size_t alignment = 16;

  template <class F>
  KOKKOS_FUNCTION static auto setup(F const& make) {
    return make();
  }
  // The team's rows are one block, which its threads share.
  KOKKOS_FUNCTION int block_rows() const { return m_rows; }
  KOKKOS_FUNCTION static constexpr int key_unit() { return 1; }
  KOKKOS_FUNCTION static int first_block() { return 0; }
  KOKKOS_FUNCTION static int end_block(int) { return 1; }

  KOKKOS_FUNCTION void load_queries(char const* rows_of_q, std::int64_t stride, int rows) {
    m_rows = rows;
    each_row([&](int r) {
      each_lane(m_head_dim, [&](int c) { m_q[r * m_head_dim + c] = element(rows_of_q, stride, r, c); });
      each_lane(m_value_dim, [&](int c) { m_acc[r * m_value_dim + c] = 0; });
      Kokkos::single(Kokkos::PerThread(m_team), [&]() {
        m_max[r] = -Kokkos::Experimental::infinity<T>::value;
        m_sum[r] = 0;
      });
    });
  }

  KOKKOS_FUNCTION void begin(KeyTiles const&, int) const {}

  KOKKOS_FUNCTION void bring(KeyTiles const& keys, int tile) const {
    int const n = keys.count(tile);
    m_team.team_barrier();
    copy(keys.k_rows(tile), keys.k_stride, n, m_head_dim, m_k, m_head_dim + key_padding);
    copy(keys.v_rows(tile), keys.v_stride, n, m_value_dim, m_v, m_value_dim);
    m_team.team_barrier();
  }

  KOKKOS_FUNCTION void scores(int, int first, int n) const {
    each_row([&](int r) {
      each_lane(n, [&](int j) {
        T const* query = m_q + r * m_head_dim;
        T const* key = m_k + (first + j) * (m_head_dim + key_padding);
        T dot = 0;
        for (int c = 0; c < m_head_dim; ++c) dot += query[c] * key[c];
        m_s[r * m_tile_k + j] = dot * m_scale;
      });
    });
  }

  template <class F>
  KOKKOS_FUNCTION void for_each(int, int first, int n, F const& f) const {
    each_row([&](int r) { each_lane(n, [&](int j) { f(r, first + j, m_s[r * m_tile_k + j]); }); });
  }

  KOKKOS_FUNCTION void softmax(int, int n) const {
    each_row([&](int r) {
      T* const s = m_s + r * m_tile_k;
      T old_max;
      Kokkos::single(
          Kokkos::PerThread(m_team), [&](T& max) { max = m_max[r]; }, old_max);
      T tile_max = old_max;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(m_team, n),
          [&](int j, T& max) {
            if (s[j] > max) max = s[j];
          },
          kokkos_ext::MaxReducer<T>(tile_max));
      T const max = tile_max > old_max ? tile_max : old_max;
      // -infinity - -infinity would be NaN: a row that has seen no key yet takes 0 as its reference instead.
      T const reference = max == -Kokkos::Experimental::infinity<T>::value ? T{0} : max;
      T const alpha = exp_of(old_max - reference);
      T tile_sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(m_team, n),
          [&](int j, T& sum) {
            T const p = exp_of(s[j] - reference);
            s[j] = p;
            sum += p;
          },
          tile_sum);
      Kokkos::single(Kokkos::PerThread(m_team), [&]() {
        m_sum[r] = m_sum[r] * alpha + tile_sum;
        m_max[r] = max;
      });
      if (alpha != 1) each_lane(m_value_dim, [&](int c) { m_acc[r * m_value_dim + c] *= alpha; });
    });
  }

  KOKKOS_FUNCTION void accumulate(int, int first, int n) const {
    each_row([&](int r) {
      each_lane(m_value_dim, [&](int c) {
        T sum = 0;  // the keys' apart from acc's, as in portable_sums.hpp
        for (int j = 0; j < n; ++j) sum += m_s[r * m_tile_k + j] * m_v[(first + j) * m_value_dim + c];
        m_acc[r * m_value_dim + c] += sum;
      });
    });
  }

  KOKKOS_FUNCTION void finish(FusedProblem const& p, WorkItem const& item, std::int64_t row_begin,
                              int) const {
    bool const partial = p.schedule.splits > 1;
    each_row([&](int r) {
      std::int64_t const row = row_begin + r;
      T const sum = m_sum[r];
      T const max = m_max[r];
      std::int64_t const at = p.partial_row(item, row);
      each_lane(m_value_dim, [&](int c) {
        T const value = sum == 0 ? T{0} : m_acc[r * m_value_dim + c] / sum;
        if (partial) {
          static_cast<T*>(p.partials.o)[at * m_value_dim + c] = value;
        } else {
          (&p.o.element<Storage>(item.batch, item.head, row))[c] = from_float<Storage>(value);
        }
      });
      Kokkos::single(Kokkos::PerThread(m_team), [&]() {
        if (partial) {
          static_cast<T*>(p.partials.max)[at] = max;
          static_cast<T*>(p.partials.sum)[at] = sum;
          return;
        }
        if (p.lse.data != nullptr) {
          p.lse.element<T>(item.batch, item.head, row) = log_sum_exp(max, sum);
        }
        if (p.max.data != nullptr) p.max.element<T>(item.batch, item.head, row) = max;
        if (p.sum.data != nullptr) p.sum.element<T>(item.batch, item.head, row) = sum;
      });
    });
  }

 private:
  // One element more a row: the lanes of a score read one column of K, and rows a power of two apart would
  // meet in one bank of the scratch memory.
  static constexpr int key_padding = 1;

  template <class F>
  KOKKOS_FUNCTION void each_row(F const& f) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(m_team, m_rows), f);
  }

  template <class F>
  KOKKOS_FUNCTION void each_lane(int n, F const& f) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(m_team, n), f);
  }

  KOKKOS_FUNCTION static T element(char const* rows, std::int64_t stride, int row, int column) {
    return static_cast<T>(to_float(reinterpret_cast<Storage const*>(rows + row * stride)[column]));
  }

  KOKKOS_FUNCTION void copy(char const* rows, std::int64_t stride, int n, int dim, T* to, int pitch) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(m_team, n), [&](int j) {
      each_lane(dim, [&](int c) { to[j * pitch + c] = element(rows, stride, j, c); });
    });
  }

  Member const& m_team;
  T m_scale;
  int m_tile_k;
  int m_head_dim;
  int m_value_dim;
  int m_rows = 0;
  T* m_q;
  T* m_acc;
  T* m_s;
  T* m_max;
  T* m_sum;
  T* m_k;
  T* m_v;
};

}  // namespace flashpad::engines
