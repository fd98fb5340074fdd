// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>
#include <flashpad/kokkos_ext/hip.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace flashpad::kokkos_ext {

/// Whether an execution space's threads are the host's.
template <class Exec>
inline constexpr bool is_host =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, typename Exec::memory_space>::accessible &&
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// Teams that take work as they become free: on the host a static partition would give the first thread all
/// of the heaviest query tiles. A GPU's own block scheduler does this already.
template <class Exec>
using TeamSchedule =
    std::conditional_t<is_host<Exec>, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::Schedule<Kokkos::Static>>;

/// The last statement of a team functor. Kokkos' CUDA and HIP backends call the functor in a loop over league
/// ranks, though they launch a block for each; the thread ends here, so that the compiler sees no loop, out
/// of which it would move what a kernel with 255 registers has no room to keep. Not with scratch memory of
/// level 1, which is given back after that loop.
template <class Exec, class Member>
KOKKOS_FUNCTION void end_of_team([[maybe_unused]] Member const& team) {
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    if (gridDim.x < static_cast<unsigned>(team.league_size())) __trap();  // a Kokkos that does use the loop
    asm volatile("exit;");
    __builtin_unreachable();
  }
#endif
#if defined(KOKKOS_ENABLE_HIP) && defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_same_v<Exec, HIP>) {
    if (gridDim.x < static_cast<unsigned>(team.league_size())) __builtin_trap();
    asm volatile("s_endpgm");
    __builtin_unreachable();
  }
#endif
}

/// Threads that may run at once on the instance.
template <class Exec>
int concurrency(Exec const& exec) {
  return static_cast<int>(exec.concurrency());  // static in 3.x, a member of the instance since
}

/// Whether two instances order their work one after the other.
template <class Exec>
bool same_instance(Exec const& a, Exec const& b) {
#if KOKKOS_VERSION >= 40000
  return a == b;
#else
  return a.impl_instance_id() == b.impl_instance_id();
#endif
}

/// Throws Error where the instance takes no work from the calling host thread: before 4.0 the OpenMP backend
/// serves the thread that initialised Kokkos alone, and would throw an exception of its own in mid-call.
template <class Exec>
void require_launchable(Exec const&) {
#if KOKKOS_VERSION < 40000
  if constexpr (is_host<Exec>) {
    if (Exec::in_parallel()) {
      throw Error(
          std::string("exec: ") + Exec::name() +
          " of Kokkos 3 takes work from the host thread that initialised Kokkos alone, and outside of "
          "parallel regions; call from that thread, or build with Kokkos 4 or newer");
    }
  }
#endif
}

/// Uninitialised memory for kernels: a View of bytes. Throws OutOfMemory where Kokkos cannot allocate it.
template <class Exec>
using Bytes = Kokkos::View<char*, typename Exec::memory_space>;

template <class Exec>
Bytes<Exec> allocate(Exec const& exec, std::string const& label, std::size_t bytes) {
  try {
    return Bytes<Exec>(Kokkos::view_alloc(exec, label, Kokkos::WithoutInitializing), bytes);
  } catch (std::exception const&) {  // the exception's type differs between releases and memory spaces
    throw OutOfMemory(label + ": " + std::to_string(bytes) + " bytes cannot be allocated",
                      static_cast<double>(bytes));
  }
}

}  // namespace flashpad::kokkos_ext
