// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/naive/naive_rows.hpp"
#include "kernels/operand.hpp"
#include "kernels/softmax_math.hpp"
#include "kokkos_ext/device_math.hpp"
#include "kokkos_ext/max_reducer.hpp"
#include "problem/walk.hpp"

#include <algorithm>

namespace flashpad {

/// Row softmax of scores on a GPU, in place, bound by memory: a row is read once and written once, in vectors
/// of 16 bytes, and stays in registers in between. One team a row; a thread holds `Vectors` vectors.
/// `Vectors` of 0 is for rows that no team can hold: they are read three times.
template <class Exec, class Storage, class T, int Vectors>
struct VendorSoftmax {
  static constexpr int width = 16 / static_cast<int>(sizeof(Storage));
  static constexpr int most_threads = 256;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<most_threads, 1>>;
  using Member = typename Policy::member_type;

  Storage* scores = nullptr;  ///< [heads of the chunk][rows.size()][pitch], 16-byte aligned
  std::int64_t pitch = 0;     ///< a multiple of `width`, and at least keys.size()
  HeadChunk chunk;
  BandVariant variant;
  KeyRange rows;
  KeyRange keys;
  Operand lse;

  struct alignas(16) Vector {
    Storage element[width];
  };

  /// Keys that a row sees, counted from keys.begin; a BLAS counts in int, so they fit.
  struct Shown {
    int begin, end;
  };

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    std::int64_t const index = team.league_rank();
    std::int64_t const row = rows.begin + index % rows.size();
    auto* const vectors = reinterpret_cast<Vector*>(scores + index * pitch);
    KeyRange const range = variant.visible(row);
    Shown const visible = {static_cast<int>(range.begin - keys.begin),
                           static_cast<int>(range.end - keys.begin)};
    T max = 0;
    T sum = 0;
    if constexpr (Vectors > 0) {
      in_registers(team, vectors, visible, max, sum);
    } else {
      in_memory(team, vectors, visible, max, sum);
    }
    if (lse.data == nullptr) return;
    std::int64_t const i = index / rows.size();
    Kokkos::single(Kokkos::PerTeam(team),
                   [&]() { lse.element<T>(chunk.batch(i), chunk.head(i), row) = log_sum_exp(max, sum); });
  }

 private:
  /// Hidden keys and the padding at the end of a row weigh nothing.
  KOKKOS_FUNCTION static T score(Vector const& vector, int at, int e, Shown const& visible) {
    int const key = at * width + e;
    bool const shown = key >= visible.begin && key < visible.end;
    return shown ? static_cast<T>(kokkos_ext::widened(vector.element[e]))
                 : -Kokkos::Experimental::infinity<T>::value;
  }

  KOKKOS_FUNCTION static T weight(T score, T max) {
    // A row of -infinity alone has no mass: 0 as its reference gives P = 0, and no NaN.
    return kokkos_ext::quick_exp(score - (max == -Kokkos::Experimental::infinity<T>::value ? T{0} : max));
  }

  KOKKOS_FUNCTION void in_registers(Member const& team, Vector* vectors, Shown const& visible, T& max,
                                    T& sum) const {
    T held[Vectors > 0 ? Vectors : 1][width];
    int const count = static_cast<int>(pitch / width);
    max = -Kokkos::Experimental::infinity<T>::value;
    for (int v = 0; v < Vectors; ++v) {
      int const at = v * team.team_size() + team.team_rank();
      Vector const vector = at < count ? vectors[at] : Vector{};
      for (int e = 0; e < width; ++e) {
        held[v][e] = score(vector, at, e, visible);
        if (held[v][e] > max) max = held[v][e];
      }
    }
    team.team_reduce(kokkos_ext::MaxReducer<T>(max));
    sum = 0;
    for (int v = 0; v < Vectors; ++v) {
      for (int e = 0; e < width; ++e) sum += held[v][e] = weight(held[v][e], max);
    }
    team.team_reduce(Kokkos::Sum<T>(sum));
    T const inverse = sum == 0 ? T{0} : 1 / sum;
    for (int v = 0; v < Vectors; ++v) {
      int const at = v * team.team_size() + team.team_rank();
      if (at >= count) continue;
      Vector vector;
      for (int e = 0; e < width; ++e) vector.element[e] = kokkos_ext::narrowed<Storage>(held[v][e] * inverse);
      vectors[at] = vector;
    }
  }

  KOKKOS_FUNCTION void in_memory(Member const& team, Vector* vectors, Shown const& visible, T& max,
                                 T& sum) const {
    int const count = static_cast<int>(pitch / width);
    max = -Kokkos::Experimental::infinity<T>::value;
    for (int at = team.team_rank(); at < count; at += team.team_size()) {
      Vector const vector = vectors[at];
      for (int e = 0; e < width; ++e) {
        T const value = score(vector, at, e, visible);
        if (value > max) max = value;
      }
    }
    team.team_reduce(kokkos_ext::MaxReducer<T>(max));
    sum = 0;
    for (int at = team.team_rank(); at < count; at += team.team_size()) {
      Vector const vector = vectors[at];
      for (int e = 0; e < width; ++e) sum += weight(score(vector, at, e, visible), max);
    }
    team.team_reduce(Kokkos::Sum<T>(sum));
    T const inverse = sum == 0 ? T{0} : 1 / sum;
    for (int at = team.team_rank(); at < count; at += team.team_size()) {
      Vector vector = vectors[at];
      for (int e = 0; e < width; ++e) {
        vector.element[e] =
            kokkos_ext::narrowed<Storage>(weight(score(vector, at, e, visible), max) * inverse);
      }
      vectors[at] = vector;
    }
  }
};

/// Launches the row softmax with as few threads as hold a row in eight vectors each: a wide team waits longer
/// for its two reductions than for memory (measured on an H200 at 4096 keys: 256 threads of two vectors
/// reached 1.6 TB/s).
template <class Exec, class Storage, class T>
void launch_vendor_softmax(Exec const& exec, VendorSoftmax<Exec, Storage, T, 0> const& task) {
  constexpr int width = VendorSoftmax<Exec, Storage, T, 0>::width;
  std::int64_t const vectors = task.pitch / width;
  auto const league = static_cast<int>(task.chunk.count * task.rows.size());
  auto const launch = [&]<int Vectors>(std::integral_constant<int, Vectors>, int threads) {
    using Functor = VendorSoftmax<Exec, Storage, T, Vectors>;
    Functor functor;
    functor.scores = task.scores;
    functor.pitch = task.pitch;
    functor.chunk = task.chunk;
    functor.variant = task.variant;
    functor.rows = task.rows;
    functor.keys = task.keys;
    functor.lse = task.lse;
    Kokkos::parallel_for("flashpad::naive_vendor::softmax", typename Functor::Policy(exec, league, threads),
                         functor);
  };
  int threads = Kokkos::TeamPolicy<Exec>::vector_length_max();  // a warp or wavefront
  while (threads < 256 && 8 * threads < vectors) threads *= 2;
  if (vectors <= 2 * threads) return launch(std::integral_constant<int, 2>{}, threads);
  if (vectors <= 4 * threads) return launch(std::integral_constant<int, 4>{}, threads);
  if (vectors <= 8 * threads) return launch(std::integral_constant<int, 8>{}, threads);
  launch(std::integral_constant<int, 0>{}, threads);
}

}  // namespace flashpad
