// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "kokkos_ext/execution.hpp"
#include "measure/parallel.hpp"
#include "measure/peak_kernels.hpp"
#include "problem/text.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

// What an execution space was seen to do, on all its threads: the roofs. A tenth of a second each, where the
// machine is free.

namespace flashpad::measure {

/// Best rate of many runs of body(), which does `amount` of something a run: on a machine that others use,
/// some of them are undisturbed.
template <class Exec, class Body>
double best_rate(Exec const& exec, double amount, Body const& body) {
  constexpr int runs_min = 20;
  constexpr double seconds_min = 0.1;
  constexpr double seconds_max = 0.5;
  double best = 0;
  double total = 0;
  body();  // threads awake, pages there
  for (int run = 0; (run < runs_min || total < seconds_min) && total < seconds_max; ++run) {
    exec.fence();
    auto const start = std::chrono::steady_clock::now();
    body();
    exec.fence();
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, amount / seconds);
    total += seconds;
  }
  return best;
}

/// Host: the processor's own vector unit, on every thread of the execution space at once. Each thread times
/// short pieces of its own work and keeps its best: what other programs take from it meanwhile does not
/// count. More threads than cores add nothing.
template <class Exec>
double host_peak_flops(Exec const& exec, PeakKernel const& kernel) {
  constexpr long iterations = 1 << 17;
  constexpr int pieces = 250;
  constexpr double seconds_max = 0.5;  // an emulated processor takes a second for a piece
  int const threads = kokkos_ext::concurrency(exec);
  std::vector<double> best(static_cast<std::size_t>(threads), 0.0);
  double* const best_of = best.data();
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;
  Kokkos::parallel_for(
      "flashpad::measure::peak_flops", Policy(exec, 0, threads, Kokkos::ChunkSize(1)), [=](int thread) {
        double total = 0;
        for (int piece = 0; piece < pieces && total < seconds_max; ++piece) {
          auto const start = std::chrono::steady_clock::now();
          volatile double const kept = kernel.run(iterations);
          static_cast<void>(kept);
          std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;
          best_of[thread] = std::max(best_of[thread], iterations / time.count());
          total += time.count();
        }
      });
  exec.fence();
  double const all = std::accumulate(best.begin(), best.end(), 0.0) * kernel.flops_per_iteration;
  return all * std::min(1.0, static_cast<double>(available_cores()) / threads);
}

/// Device: independent multiply-adds in every thread's registers.
template <class Exec, class Scalar>
double device_peak_flops(Exec const& exec) {
  constexpr int chains = 8;
  constexpr int iterations = 1 << 14;
  int const threads = 4 * kokkos_ext::concurrency(exec);
  Kokkos::View<Scalar*, typename Exec::memory_space> results("flashpad::measure::peak_results",
                                                             static_cast<std::size_t>(threads));
  return best_rate(exec, 2.0 * chains * iterations * threads, [&] {
    Kokkos::parallel_for(
        "flashpad::measure::peak_flops", Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, threads),
        KOKKOS_LAMBDA(int thread) {
          Scalar acc[chains];
          for (int c = 0; c < chains; ++c) acc[c] = static_cast<Scalar>(c + thread);
          for (int i = 0; i < iterations; ++i) {
            for (int c = 0; c < chains; ++c) acc[c] = acc[c] * Scalar(0.5) + Scalar(0.25);
          }
          for (int c = 1; c < chains; ++c) acc[0] += acc[c];
          results(thread) = acc[0];
        });
  });
}

/// Bytes a second from memory.
struct Bandwidth {
  double read = 0;
  double copy = 0;  ///< read and written bytes
};

/// Reads an array of several times the last-level cache and at most half of `room` bytes, and copies its
/// first half to its second. Throws Error where it is not twice the cache: what came out would be the
/// cache's. One array serves both, as a server's cache may be hundreds of MiB: writing its pages for the
/// first time is most of what this costs there.
template <class Exec>
Bandwidth memory_bandwidth(Exec const& exec, double cache_bytes, double room) {
  using Word = std::uint64_t;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
  // Host threads walk long runs that their compiler vectorises; neighbouring GPU threads take neighbouring
  // words.
  constexpr std::int64_t run = kokkos_ext::is_host<Exec> ? 4096 : 1;
  // On a GPU long enough that the way to a launch and back does not count.
  constexpr double least = kokkos_ext::is_host<Exec> ? 0x1p27 : 0x1p32;
  double const bytes = std::min(std::max(4 * cache_bytes, least), room / 2);
  if (bytes < 2 * cache_bytes) {
    throw Error(detail::text("memory_limit: ", room,
                             " bytes leave no room to measure the memory's bandwidth; ",
                             "allowed: ", 4 * cache_bytes, " or more"));
  }
  std::int64_t const half =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes) / 2 / run / 8);  // runs
  Kokkos::View<Word*, typename Exec::memory_space> words("flashpad::measure::bandwidth",
                                                         static_cast<std::size_t>(2 * half * run));
  auto const half_bytes = static_cast<double>(half * run) * sizeof(Word);

  double const copy = best_rate(exec, 2 * half_bytes, [&] {
    Kokkos::parallel_for(
        "flashpad::measure::copy", Policy(exec, 0, half), KOKKOS_LAMBDA(std::int64_t r) {
          Word const* source = words.data() + r * run;
          Word* target = words.data() + (half + r) * run;
          for (std::int64_t i = 0; i < run; ++i) target[i] = source[i] + 1;
        });
  });
  Word kept = 0;
  double const read = best_rate(exec, 2 * half_bytes, [&] {
    Word sum = 0;
    Kokkos::parallel_reduce(
        "flashpad::measure::read", Policy(exec, 0, 2 * half),
        KOKKOS_LAMBDA(std::int64_t r, Word & total) {
          Word const* source = words.data() + r * run;
          Word part = 0;
          for (std::int64_t i = 0; i < run; ++i) part += source[i];
          total += part;
        },
        sum);
    kept += sum;
  });
  return {kept > 0 ? read : 0, copy};  // using the sum keeps the loop
}

}  // namespace flashpad::measure
