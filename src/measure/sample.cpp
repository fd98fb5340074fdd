// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/sample.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace flashpad::measure {

namespace {

constexpr std::int64_t min_rows = 64;

// Rows worth checking in one head, the most telling first.
std::vector<std::int64_t> edges(std::int64_t seq_q) {
  std::int64_t const last_edge = (seq_q - 1) / 64 * 64;
  std::vector<std::int64_t> rows;
  for (std::int64_t const row : {std::int64_t{0}, seq_q - 1, std::int64_t{64}, std::int64_t{63}, last_edge,
                                 last_edge - 1, std::int64_t{65}, std::int64_t{127}, std::int64_t{128},
                                 seq_q / 2 / 64 * 64, seq_q / 2 / 64 * 64 - 1}) {
    if (row >= 0 && row < seq_q && std::find(rows.begin(), rows.end(), row) == rows.end())
      rows.push_back(row);
  }
  return rows;
}

// Multiples of the golden ratio, modulo 1, fill an interval evenly for any count.
std::int64_t spread(std::int64_t index, std::int64_t seq_q) {
  double const fraction = std::fmod(static_cast<double>(index) * 0.6180339887498949, 1.0);
  return std::min(static_cast<std::int64_t>(fraction * static_cast<double>(seq_q)), seq_q - 1);
}

}  // namespace

std::vector<QueryRow> rows_to_verify(Shape const& s, double budget) {
  std::int64_t const heads = s.batch * s.heads;
  std::int64_t const total = heads * s.seq_q;
  if (total == 0) return {};
  double const row_cost =
      static_cast<double>(std::max<std::int64_t>(s.seq_k, 1)) * static_cast<double>(s.head_dim + s.value_dim);
  auto const affordable = static_cast<std::int64_t>(std::min(budget / row_cost, 1e15));
  std::int64_t const wanted = std::min(std::max(affordable, min_rows), total);

  std::set<QueryRow> rows;
  auto const want_more = [&] { return static_cast<std::int64_t>(rows.size()) < wanted; };

  if (wanted < total) {
    // Round k goes over all heads; each head starts one edge further than the last, so that few rounds meet
    // every edge.
    std::vector<std::int64_t> const edge = edges(s.seq_q);
    auto const edge_count = static_cast<std::int64_t>(edge.size());
    for (std::int64_t k = 0; k < 2 * wanted && want_more(); ++k) {
      std::int64_t const head = k % heads;
      std::int64_t const round = k / heads;
      std::int64_t const i = round < edge_count ? edge[static_cast<std::size_t>((round + head) % edge_count)]
                                                : spread(k, s.seq_q);
      rows.insert({head / s.heads, head % s.heads, i});
    }
  }
  for (std::int64_t row = 0; want_more(); ++row) {  // all rows, or what doubles left to fill
    rows.insert(rows.end(), {row / s.seq_q / s.heads, row / s.seq_q % s.heads, row % s.seq_q});
  }
  return {rows.begin(), rows.end()};
}

}  // namespace flashpad::measure
