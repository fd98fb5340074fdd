// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/significance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace flashpad::compare {

namespace {

constexpr std::size_t most_for_exact = 40;

double two_sided(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

/// U of `a`: pairs in which its sample is the larger, ties counting half; and sum of t^3 - t over tied
/// groups.
struct Ranks {
  double u = 0;
  double ties = 0;
};

Ranks ranks_of(std::vector<double> const& a, std::vector<double> const& b) {
  struct Sample {
    double value;
    bool of_a;
  };
  std::vector<Sample> all;
  for (double const value : a) all.push_back({value, true});
  for (double const value : b) all.push_back({value, false});
  std::sort(all.begin(), all.end(), [](Sample const& x, Sample const& y) { return x.value < y.value; });
  Ranks result;
  double rank_sum = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    double of_a = 0;
    while (end < all.size() && all[end].value == all[i].value) of_a += all[end++].of_a ? 1 : 0;
    auto const tied = static_cast<double>(end - i);
    rank_sum += of_a * (static_cast<double>(i + 1 + end) / 2);
    result.ties += tied * tied * tied - tied;
    i = end;
  }
  auto const n = static_cast<double>(a.size());
  result.u = rank_sum - n * (n + 1) / 2;
  return result;
}

/// Share of the orders of m and n samples in which U is at most u.
double share_up_to(std::size_t m, std::size_t n, double u) {
  // ways[j][k]: orders of i and j samples with U = k, built up sample by sample of the first kind.
  std::size_t const most = m * n;
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(most + 1, 0.0));
  for (auto& row : ways) row[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t j = 1; j <= n; ++j) {
      // The largest of all is of the second kind (U stays), or of the first, and then above all j.
      std::vector<double> next = ways[j - 1];
      for (std::size_t k = j; k <= most; ++k) next[k] += ways[j][k - j];
      ways[j] = std::move(next);
    }
  }
  double below = 0;
  double all = 0;
  for (std::size_t k = 0; k <= most; ++k) {
    all += ways[n][k];
    if (static_cast<double>(k) <= u) below += ways[n][k];
  }
  return below / all;
}

}  // namespace

double mann_whitney(std::vector<double> const& a, std::vector<double> const& b) {
  Ranks const ranks = ranks_of(a, b);
  auto const m = static_cast<double>(a.size());
  auto const n = static_cast<double>(b.size());
  double const least = std::min(ranks.u, m * n - ranks.u);
  if (ranks.ties == 0 && a.size() + b.size() <= most_for_exact) {
    return std::min(1.0, 2 * share_up_to(a.size(), b.size(), least));
  }
  double const all = m + n;
  double const variance = m * n / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (variance <= 0) return 1;  // all samples are equal
  double const distance = std::max(0.0, m * n / 2 - least - 0.5);
  return two_sided(distance / std::sqrt(variance));
}

double least_probability(std::size_t a, std::size_t b) {
  double const orders = std::lgamma(static_cast<double>(a + b + 1)) -
                        std::lgamma(static_cast<double>(a + 1)) - std::lgamma(static_cast<double>(b + 1));
  return std::min(1.0, 2 * std::exp(-orders));
}

double median_test(Quartiles const& a, Quartiles const& b) {
  auto const error = [](Quartiles const& q) {
    return 1.2533 * (q.median * q.spread / 1.349) / std::sqrt(static_cast<double>(q.repetitions));
  };
  double const both = std::hypot(error(a), error(b));
  if (both == 0) return a.median == b.median ? 1 : 0;
  return two_sided((a.median - b.median) / both);
}

}  // namespace flashpad::compare
