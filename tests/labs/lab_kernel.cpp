// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "labs/lab_kernel.hpp"

#include "kernels/fused/schedule.hpp"
#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/streams.hpp"
#include "problem/walk.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

namespace flashpad::labs {

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float large_negative = -1e9F;

/// A query tile: (max, sum, accumulator) of its rows, and the tile loop over its keys.
class QueryTile {
 public:
  QueryTile(Problem const& problem, Variant const& variant, WorkItem const& item)
      : m_p(problem),
        m_variant(variant),
        m_dim(problem.shape.head_dim),
        m_values(problem.shape.value_dim),
        m_head(item.batch * problem.shape.heads + item.head),
        m_first_row(item.query_tile * problem.tile.q),
        m_rows(std::min<std::int64_t>(problem.tile.q, problem.shape.seq_q - m_first_row)),
        m_band(BandVariant::make(problem.shape.seq_q, problem.shape.seq_k, problem.mask)),
        m_max(size(m_rows), -infinity),
        m_sum(size(m_rows), 0.0F),
        m_acc(size(m_rows * m_values), 0.0F),
        m_scores(size(m_rows * problem.tile.k)),
        m_keys(size(m_dim * problem.tile.k)) {}

  std::int64_t attend(Result& result) {
    TileWalk const walk = make_walk(m_band, m_first_row, m_first_row + m_rows, m_p.tile.k, m_variant.skips);
    for (std::int64_t t = 0; t < walk.tiles; ++t) {
      std::int64_t const first = walk.begin(t);
      std::int64_t const keys = m_variant.padding_is_zeros ? m_p.tile.k : walk.end(t) - first;
      score(first, keys);
      if (m_variant.masking != Masking::none && (!m_variant.two_stages || walk.masked(t))) mask(first, keys);
      for (std::int64_t r = 0; r < m_rows; ++r) update(r, first, keys);
    }
    finish(result);
    return walk.tiles;
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  [[nodiscard]] bool exists(std::int64_t key) const { return key < m_p.shape.seq_k; }
  [[nodiscard]] float* scores_of(std::int64_t row) { return m_scores.data() + row * m_p.tile.k; }
  [[nodiscard]] float* acc_of(std::int64_t row) { return m_acc.data() + row * m_values; }

  // Keys lie along the lanes, so K is transposed first.
  void score(std::int64_t first, std::int64_t keys) {
    float const* const k = m_p.k.data() + (m_head * m_p.shape.seq_k + first) * m_dim;
    for (std::int64_t j = 0; j < keys; ++j) {
      for (std::int64_t c = 0; c < m_dim; ++c)
        m_keys[size(c * m_p.tile.k + j)] = exists(first + j) ? k[j * m_dim + c] : 0.0F;
    }
    float const* const q = m_p.q.data() + (m_head * m_p.shape.seq_q + m_first_row) * m_dim;
    for (std::int64_t r = 0; r < m_rows; ++r) {
      float* const s = scores_of(r);
      std::fill_n(s, keys, 0.0F);
      for (std::int64_t c = 0; c < m_dim; ++c) {
        float const element = m_p.scale * q[r * m_dim + c];
        float const* const column = m_keys.data() + c * m_p.tile.k;
        for (std::int64_t j = 0; j < keys; ++j) s[j] += element * column[j];
      }
    }
  }

  void mask(std::int64_t first, std::int64_t keys) {
    float const hidden = m_variant.masking == Masking::large_negative ? large_negative : -infinity;
    TileBand const band = m_band.tile(m_first_row, first);
    for (std::int64_t r = 0; r < m_rows; ++r) {
      float* const s = scores_of(r);
      for (std::int64_t j = 0; j < keys; ++j) {
        if (!band.visible(static_cast<int>(r), static_cast<int>(j))) s[j] = hidden;
      }
    }
  }

  void update(std::int64_t r, std::int64_t first, std::int64_t keys) {
    float* const s = scores_of(r);
    float& max = m_max[size(r)];
    float& sum = m_sum[size(r)];
    float* const acc = acc_of(r);
    float const tile_max = *std::max_element(s, s + keys);
    bool const own = m_variant.rescale == Rescale::own_maximum;
    float const new_max = own ? tile_max : std::max(max, tile_max);
    // The guard: -infinity - -infinity is NaN, so a row that has seen no key takes another reference.
    bool const guarded = m_variant.masking == Masking::guarded && new_max == -infinity;
    float const reference = guarded ? 0.0F : new_max;
    float const alpha = own ? 1.0F : std::exp(max - reference);
    sum *= alpha;
    if (m_variant.rescale == Rescale::online) {
      for (std::int64_t c = 0; c < m_values; ++c) acc[c] *= alpha;
    }
    float const* const v = m_p.v.data() + (m_head * m_p.shape.seq_k + first) * m_values;
    for (std::int64_t j = 0; j < keys; ++j) {
      float const p = std::exp(s[j] - reference);
      sum += p;
      if (!exists(first + j)) continue;
      for (std::int64_t c = 0; c < m_values; ++c) acc[c] += p * v[j * m_values + c];
    }
    max = new_max;
  }

  void finish(Result& result) {
    bool const guarded = m_variant.masking == Masking::guarded;
    for (std::int64_t r = 0; r < m_rows; ++r) {
      float const sum = m_sum[size(r)];
      std::int64_t const row = m_head * m_p.shape.seq_q + m_first_row + r;
      for (std::int64_t c = 0; c < m_values; ++c) {
        result.o[size(row * m_values + c)] = guarded && sum == 0 ? 0.0F : acc_of(r)[c] / sum;
      }
      result.lse[size(row)] = m_max[size(r)] + std::log(sum);
    }
  }

  Problem const& m_p;
  Variant const& m_variant;
  std::int64_t m_dim;
  std::int64_t m_values;
  std::int64_t m_head;
  std::int64_t m_first_row;
  std::int64_t m_rows;
  BandVariant m_band;
  std::vector<float> m_max, m_sum, m_acc, m_scores, m_keys;
};

std::int64_t query_tiles(Problem const& problem) {
  return (problem.shape.seq_q + problem.tile.q - 1) / problem.tile.q;
}

}  // namespace

Result run(Problem const& problem, Variant const& variant) {
  Shape const& s = problem.shape;
  Result result;
  auto const rows = static_cast<std::size_t>(s.batch * s.heads * s.seq_q);
  float const unwritten = std::numeric_limits<float>::quiet_NaN();
  result.o.assign(rows * static_cast<std::size_t>(s.value_dim), unwritten);
  result.lse.assign(rows, unwritten);

  Exec const exec;
  Schedule schedule;
  schedule.batches = s.batch;
  schedule.heads = s.heads;
  schedule.query_tiles = query_tiles(problem);
  schedule.last_tile_first = variant.heaviest_first;
  schedule.hands = kokkos_ext::concurrency(exec);
  using Policy =
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
  exec.fence();
  auto const start = std::chrono::steady_clock::now();
  Kokkos::parallel_reduce(
      "flashpad::labs::attention", Policy(exec, 0, schedule.league_size(), Kokkos::ChunkSize(1)),
      [&](std::int64_t rank, std::int64_t& visited) {
        visited += QueryTile(problem, variant, schedule.item(rank)).attend(result);
      },
      result.tiles_visited);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

bool can_start() {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  return kokkos_ext::device_count() > 0;
#else
  return true;
#endif
}

std::int64_t all_tiles(Problem const& problem) {
  std::int64_t const key_tiles = (problem.shape.seq_k + problem.tile.k - 1) / problem.tile.k;
  return problem.shape.batch * problem.shape.heads * query_tiles(problem) * key_tiles;
}

}  // namespace flashpad::labs
