// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/kokkos_backend.hpp"

#ifdef KOKKOS_ENABLE_THREADS

namespace flashpad::measure {

std::unique_ptr<Backend> make_threads_backend() {
  return std::make_unique<KokkosBackend<Kokkos::Threads>>("threads");
}

}  // namespace flashpad::measure

#endif
