// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/kokkos_backend.hpp"

#ifdef KOKKOS_ENABLE_OPENMP

namespace flashpad::measure {

std::unique_ptr<Backend> make_openmp_backend() {
  return std::make_unique<KokkosBackend<Kokkos::OpenMP>>("openmp");
}

}  // namespace flashpad::measure

#endif
