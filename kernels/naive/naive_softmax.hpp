// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/engines/host_table.hpp"
#include "kernels/naive/naive_rows.hpp"
#include "kernels/operand.hpp"
#include "kernels/softmax_math.hpp"
#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/half.hpp"
#include "kokkos_ext/max_reducer.hpp"
#include "problem/walk.hpp"

#include <cmath>

namespace flashpad {

/// Row softmax of a chunk of heads' scores, in place, one team a row: the mask is applied here, hidden keys
/// get P = 0, and LSE goes out. With a 16-bit P, P goes to a buffer of its own instead.
template <class Exec, class Storage, class T>
struct NaiveSoftmax {
  using Policy = Kokkos::TeamPolicy<Exec, kokkos_ext::TeamSchedule<Exec>>;
  using Member = typename Policy::member_type;

  T* scores = nullptr;        ///< [heads of the chunk][rows.size()][keys.size()]
  Storage* narrow = nullptr;  ///< the same, for P in the inputs' type; null: P stays in `scores`
  HeadChunk chunk;
  BandVariant variant;
  KeyRange rows;
  KeyRange keys;
  Operand lse;
  engines::HostTable<T> table;  ///< the host's vectorised row softmax; unused elsewhere

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    std::int64_t const index = team.league_rank();
    std::int64_t const row = rows.begin + index % rows.size();
    std::int64_t const i = index / rows.size();
    T* const s = scores + index * keys.size();
    KeyRange visible = variant.visible(row);
    visible = {visible.begin - keys.begin, visible.end - keys.begin};
    int const n = static_cast<int>(visible.size());

    T max = 0;
    T sum = 0;
    if constexpr (kokkos_ext::is_host<Exec>) {
      table.softmax_row(s + visible.begin, n, &max, &sum);
    } else {
      normalise(team, s + visible.begin, n, max, sum);
    }
    if (narrow != nullptr) {
      Storage* const out = narrow + index * keys.size();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, keys.size()), [&](std::int64_t j) {
        out[j] = from_float<Storage>(j >= visible.begin && j < visible.end ? s[j] : T{0});
      });
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, visible.begin), [&](std::int64_t j) { s[j] = 0; });
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, visible.end, keys.size()),
                           [&](std::int64_t j) { s[j] = 0; });
    }
    if (lse.data == nullptr) return;
    Kokkos::single(Kokkos::PerTeam(team),
                   [&]() { lse.element<T>(chunk.batch(i), chunk.head(i), row) = log_sum_exp(max, sum); });
  }

 private:
  KOKKOS_FUNCTION static void normalise(Member const& team, T* s, int n, T& max, T& sum) {
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, n),
        [&](int j, T& most) {
          if (s[j] > most) most = s[j];
        },
        kokkos_ext::MaxReducer<T>(max));
    // A row of -infinity alone has no mass: 0 as its reference gives P = 0, and no NaN.
    T const reference = max == -Kokkos::Experimental::infinity<T>::value ? T{0} : max;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, n),
        [&](int j, T& total) {
          s[j] = exp_of(s[j] - reference);
          total += s[j];
        },
        sum);
    if (sum == 0) return;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int j) { s[j] /= sum; });
  }
};

}  // namespace flashpad
