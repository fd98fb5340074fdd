// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/fused/fused_problem.hpp"
#include "kernels/softmax_math.hpp"
#include "kokkos_ext/half.hpp"

#include <string>

namespace flashpad {

/// Joins the parts of a split walk: O = sum_s w_s O_s with w_s = sum_s exp(max_s - max) / sum. An iteration
/// joins `columns` elements of a row, so that a decode step's few rows fill a machine here too. Parts are
/// joined in order, so the bits do not depend on who finished first.
template <class Exec, class Storage, class Compute>
struct Merge {
  static constexpr int columns = 8;  // every value_dim is a multiple of this

  FusedProblem problem;

  KOKKOS_FUNCTION static std::int64_t iterations(FusedProblem const& p) {
    return p.shape.batch * p.shape.heads * p.shape.seq_q * pieces(p);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    FusedProblem const& p = problem;
    std::int64_t const piece = index % pieces(p);
    index /= pieces(p);
    std::int64_t const row = index % p.shape.seq_q;
    WorkItem item;
    item.head = index / p.shape.seq_q % p.shape.heads;
    item.batch = index / p.shape.seq_q / p.shape.heads;
    auto const* part_max = static_cast<Compute const*>(p.partials.max);
    auto const* part_sum = static_cast<Compute const*>(p.partials.sum);

    auto const unit = static_cast<Compute>(p.partials.log_unit);
    Compute max = -Kokkos::Experimental::infinity<Compute>::value;
    for (item.split = 0; item.split < p.schedule.splits; ++item.split) {
      Compute const here = part_max[p.partial_row(item, row)];
      if (here > max) max = here;
    }
    Compute sum = 0;
    Compute value[columns] = {};
    for (item.split = 0; item.split < p.schedule.splits; ++item.split) {
      std::int64_t const at = p.partial_row(item, row);
      Compute const weight = share(part_max, part_sum, at, max, unit);
      sum += weight;
      if (!p.with_values || weight == 0) continue;
      auto const* part = static_cast<Compute const*>(p.partials.o) + at * p.shape.value_dim + piece * columns;
      for (int c = 0; c < columns; ++c) value[c] += weight * part[c];
    }
    if (p.with_values) {
      auto* out = &p.o.element<Storage>(item.batch, item.head, row) + piece * columns;
      for (int c = 0; c < columns; ++c) out[c] = from_float<Storage>(sum == 0 ? Compute{0} : value[c] / sum);
    }
    if (piece > 0) return;
    write(p.lse, item, row, log_sum_exp(max * unit, sum));
    write(p.max, item, row, max * unit);
    write(p.sum, item, row, sum);
  }

 private:
  KOKKOS_FUNCTION static std::int64_t pieces(FusedProblem const& p) {
    return p.with_values ? p.shape.value_dim / columns : 1;
  }

  /// A part that saw no key has sum 0 and max -infinity, and exp(-infinity + infinity) would be NaN. A part
  /// that saw a NaN has a NaN sum, whatever its maximum.
  KOKKOS_FUNCTION static Compute share(Compute const* part_max, Compute const* part_sum, std::int64_t at,
                                       Compute max, Compute unit) {
    Compute const sum = part_sum[at];
    if (sum == 0) return 0;
    return part_max[at] == max ? sum : sum * exp_of((part_max[at] - max) * unit);
  }

  KOKKOS_FUNCTION static void write(Operand const& to, WorkItem const& item, std::int64_t row,
                                    Compute value) {
    if (to.data != nullptr) to.element<Compute>(item.batch, item.head, row) = value;
  }
};

template <class Exec, class Storage, class Compute>
void launch_merge(Exec const& exec, FusedProblem const& problem) {
  using Functor = Merge<Exec, Storage, Compute>;
  Kokkos::parallel_for(
      "flashpad::fused::merge",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, Functor::iterations(problem)),
      Functor{problem});
}

}  // namespace flashpad
