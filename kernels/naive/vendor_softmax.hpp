// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/naive/naive_rows.hpp"
#include "kernels/operand.hpp"
#include "kernels/softmax_math.hpp"
#include "kokkos_ext/device_math.hpp"
#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/max_reducer.hpp"
#include "problem/walk.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace flashpad {

/// Row softmax of scores on a GPU, in place, bound by memory: a row is read once and written once, in vectors
/// of 16 bytes, and stays in registers in between. A team of `Threads` has one row; a thread holds `Vectors`
/// vectors. `Vectors` of 0 is for rows that no team can hold: they are read three times.
template <class Exec, class Storage, class T, int Vectors, int Threads>
struct VendorSoftmax {
  static constexpr int width = 16 / static_cast<int>(sizeof(Storage));
  // 640 threads on a multiprocessor have enough bytes under way, and registers for 64 scores each.
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Threads, 640 / Threads>>;
  using Member = typename Policy::member_type;

  Storage* scores = nullptr;  ///< [heads of the chunk][rows.size()][pitch], 16-byte aligned
  std::int64_t pitch = 0;     ///< a multiple of `width`, and at least keys.size()
  HeadChunk chunk;
  BandVariant variant;
  KeyRange rows;
  KeyRange keys;
  Operand lse;

  /// 16-bit elements in pairs, which are converted together.
  using Lane = std::conditional_t<sizeof(Storage) == 2, std::uint32_t, Storage>;
  struct alignas(16) Vector {
    Lane lane[16 / sizeof(Lane)];
  };

  /// Keys that a row sees, counted from keys.begin; a BLAS counts in int, so they fit.
  struct Shown {
    int begin, end;

    /// Whether the vector at this place has one of them: others are not read.
    KOKKOS_FUNCTION bool some(int at) const { return at * width < end && (at + 1) * width > begin; }
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
    if (lse.data != nullptr && team.team_rank() == 0) {
      std::int64_t const i = index / rows.size();
      lse.element<T>(chunk.batch(i), chunk.head(i), row) = log_sum_exp(max, sum);
    }
    kokkos_ext::end_of_team<Exec>(team);
  }

 private:
  KOKKOS_FUNCTION static void widen(Vector const& vector, T (&to)[width]) {
    for (int e = 0; e < static_cast<int>(16 / sizeof(Lane)); ++e) {
      if constexpr (sizeof(Storage) == 2) {
        kokkos_ext::widen_pair<Storage>(vector.lane[e], to[2 * e], to[2 * e + 1]);
      } else {
        to[e] = vector.lane[e];
      }
    }
  }

  /// Times `factor`.
  KOKKOS_FUNCTION static Vector narrow(T const (&from)[width], T factor) {
    Vector vector;
    for (int e = 0; e < static_cast<int>(16 / sizeof(Lane)); ++e) {
      if constexpr (sizeof(Storage) == 2) {
        vector.lane[e] = kokkos_ext::narrow_pair<Storage>(from[2 * e] * factor, from[2 * e + 1] * factor);
      } else {
        vector.lane[e] = from[e] * factor;
      }
    }
    return vector;
  }

  /// Hidden keys and the padding at the end of a row weigh nothing.
  KOKKOS_FUNCTION static void hide(T (&scores)[width], int at, Shown const& visible) {
    for (int e = 0; e < width; ++e) {
      int const key = at * width + e;
      if (key < visible.begin || key >= visible.end) scores[e] = -Kokkos::Experimental::infinity<T>::value;
    }
  }

  /// To weights relative to the row's maximum, and adds them to `sum`. A row of -infinity alone has no mass:
  /// 0 as its reference gives P = 0, and no NaN.
  KOKKOS_FUNCTION static void weigh(T (&scores)[width], T max, T& sum) {
    T const reference = max == -Kokkos::Experimental::infinity<T>::value ? T{0} : max;
    for (int e = 0; e < width; ++e) sum += scores[e] = kokkos_ext::quick_exp(scores[e] - reference);
  }

  KOKKOS_FUNCTION static void take_max(T const (&scores)[width], T& max) {
    for (int e = 0; e < width; ++e) {
      if (scores[e] > max) max = scores[e];
    }
  }

  KOKKOS_FUNCTION void in_registers(Member const& team, Vector* vectors, Shown const& visible, T& max,
                                    T& sum) const {
    T held[Vectors > 0 ? Vectors : 1][width];
    int const count = static_cast<int>(pitch / width);
    constexpr int step = Threads;
    int const first = team.team_rank();
    {
      // All are asked for before the first is looked at.
      Vector raw[Vectors > 0 ? Vectors : 1];
      for (int v = 0; v < Vectors; ++v) {
        int const at = first + v * step;
        raw[v] = visible.some(at) ? vectors[at] : Vector{};
      }
      for (int v = 0; v < Vectors; ++v) widen(raw[v], held[v]);
    }
    bool const all = visible.begin <= 0 && visible.end >= Vectors * step * width;
    if (!all) {
      for (int v = 0; v < Vectors; ++v) hide(held[v], first + v * step, visible);
    }
    max = -Kokkos::Experimental::infinity<T>::value;
    for (int v = 0; v < Vectors; ++v) take_max(held[v], max);
    team.team_reduce(kokkos_ext::MaxReducer<T>(max));
    sum = 0;
    for (int v = 0; v < Vectors; ++v) weigh(held[v], max, sum);
    team.team_reduce(Kokkos::Sum<T>(sum));
    T const inverse = sum == 0 ? T{0} : 1 / sum;
    for (int v = 0; v < Vectors; ++v) {
      int const at = first + v * step;
      if (at < count) vectors[at] = narrow(held[v], inverse);
    }
  }

  KOKKOS_FUNCTION void in_memory(Member const& team, Vector* vectors, Shown const& visible, T& max,
                                 T& sum) const {
    int const count = static_cast<int>(pitch / width);
    auto const scores_at = [&](int at, T(&to)[width]) {
      widen(visible.some(at) ? vectors[at] : Vector{}, to);
      hide(to, at, visible);
    };
    T here[width];
    max = -Kokkos::Experimental::infinity<T>::value;
    for (int at = team.team_rank(); at < count; at += Threads) {
      scores_at(at, here);
      take_max(here, max);
    }
    team.team_reduce(kokkos_ext::MaxReducer<T>(max));
    sum = 0;
    for (int at = team.team_rank(); at < count; at += Threads) {
      scores_at(at, here);
      weigh(here, max, sum);
    }
    team.team_reduce(Kokkos::Sum<T>(sum));
    T const inverse = sum == 0 ? T{0} : 1 / sum;
    for (int at = team.team_rank(); at < count; at += Threads) {
      scores_at(at, here);
      T unused = 0;
      weigh(here, max, unused);
      vectors[at] = narrow(here, inverse);
    }
  }
};

/// The scores of a chunk, before it is known how many threads take a row.
template <class Exec, class Storage, class T>
struct VendorScores {
  Storage* scores = nullptr;
  std::int64_t pitch = 0;
  HeadChunk chunk;
  BandVariant variant;
  KeyRange rows;
  KeyRange keys;
  Operand lse;
};

/// Launches the row softmax with as few threads as hold a row in eight vectors each.
template <class Exec, class Storage, class T>
void launch_vendor_softmax(Exec const& exec, VendorScores<Exec, Storage, T> const& task) {
  std::int64_t const vectors = task.pitch * static_cast<std::int64_t>(sizeof(Storage)) / 16;
  auto const league = static_cast<int>(task.chunk.count * task.rows.size());
  auto const launch = [&]<int Vectors, int Threads>(std::integer_sequence<int, Vectors, Threads>) {
    using Functor = VendorSoftmax<Exec, Storage, T, Vectors, Threads>;
    Functor const functor{task.scores, task.pitch, task.chunk, task.variant, task.rows, task.keys, task.lse};
    Kokkos::parallel_for("flashpad::naive_vendor::softmax", typename Functor::Policy(exec, league, Threads),
                         functor);
  };
  if (Kokkos::TeamPolicy<Exec>::vector_length_max() == 32) {  // a warp; a wavefront has 64 threads
    if (vectors <= 2 * 32) return launch(std::integer_sequence<int, 2, 32>());
    if (vectors <= 4 * 32) return launch(std::integer_sequence<int, 4, 32>());
    if (vectors <= 8 * 32) return launch(std::integer_sequence<int, 8, 32>());
  }
  if (vectors <= 8 * 64) return launch(std::integer_sequence<int, 8, 64>());
  if (vectors <= 8 * 128) return launch(std::integer_sequence<int, 8, 128>());
  if (vectors <= 8 * 256) return launch(std::integer_sequence<int, 8, 256>());
  launch(std::integer_sequence<int, 0, 256>());
}

}  // namespace flashpad
