// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace flashpad::kokkos_ext {

/// Calls `launch`, which enqueues work of its own on `exec`; Kokkos' tools see it as a kernel of this name.
template <class Exec, class Launch>
void labelled(Exec const& exec, char const* label, Launch const& launch) {
  std::uint64_t id = 0;
  Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  launch();
  Kokkos::Tools::endParallelFor(id);
}

}  // namespace flashpad::kokkos_ext
