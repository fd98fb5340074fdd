// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/kokkos_backend.hpp"

#ifdef KOKKOS_ENABLE_SERIAL

namespace flashpad::measure {

std::unique_ptr<Backend> make_serial_backend() {
  return std::make_unique<KokkosBackend<Kokkos::Serial>>("serial");
}

}  // namespace flashpad::measure

#endif
