// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/operand.hpp"
#include "kokkos_ext/half.hpp"
#include "problem/walk.hpp"

#include <cstdint>

// Passes over rows that naive needs around its products. Functors and not lambdas: nvcc takes no extended
// lambda from a private member function.

namespace flashpad {

/// A chunk of heads: heads [first, first + count) of all batch * heads, and how they map to a tensor.
struct HeadChunk {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t heads = 1;  ///< query heads of one batch
  std::int64_t group = 1;  ///< query heads a head of the tensor: 1 for q and o

  FLASHPAD_FUNCTION std::int64_t batch(std::int64_t i) const { return (first + i) / heads; }
  FLASHPAD_FUNCTION std::int64_t head(std::int64_t i) const { return (first + i) % heads / group; }
};

/// Rows of 16-bit elements to contiguous rows of T, [heads of the chunk][rows][dim].
template <class Storage, class T>
struct WidenRows {
  Operand from;
  T* to = nullptr;
  HeadChunk chunk;
  KeyRange rows;
  std::int64_t dim = 0;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t n) const {
    Storage const* row = &from.element<Storage>(chunk.batch(i), chunk.head(i), rows.begin + n);
    T* out = to + (i * rows.size() + n) * dim;
    for (std::int64_t c = 0; c < dim; ++c) out[c] = to_float(row[c]);
  }
};

/// The way back.
template <class Storage, class T>
struct NarrowRows {
  T const* from = nullptr;
  Operand to;
  HeadChunk chunk;
  KeyRange rows;
  std::int64_t dim = 0;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t n) const {
    T const* row = from + (i * rows.size() + n) * dim;
    Storage* out = &to.element<Storage>(chunk.batch(i), chunk.head(i), rows.begin + n);
    for (std::int64_t c = 0; c < dim; ++c) out[c] = from_float<Storage>(row[c]);
  }
};

/// O = 0 and LSE = -infinity in the rows outside `seen`, those that see no key.
template <class Storage, class T>
struct ClearRows {
  Operand o;
  Operand lse;
  HeadChunk chunk;
  KeyRange seen;
  std::int64_t dim = 0;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t n) const {
    std::int64_t const row = n < seen.begin ? n : n + seen.size();
    Storage* out = &o.element<Storage>(chunk.batch(i), chunk.head(i), row);
    for (std::int64_t c = 0; c < dim; ++c) out[c] = from_float<Storage>(T{0});
    if (lse.data != nullptr) {
      lse.element<T>(chunk.batch(i), chunk.head(i), row) = -Kokkos::Experimental::infinity<T>::value;
    }
  }
};

template <class Exec, class Functor>
void for_rows(Exec const& exec, char const* label, std::int64_t heads, std::int64_t rows,
              Functor const& functor) {
  using Policy = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(label, Policy(exec, {0, 0}, {heads, rows}), functor);
}

}  // namespace flashpad
