// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/kokkos_backend.hpp"

#ifdef KOKKOS_ENABLE_HIP

#include <hip/hip_runtime_api.h>

namespace flashpad::measure {

namespace {

DeviceFacts hip_facts() {
  DeviceFacts facts;
  int device = 0;
  hipDeviceProp_t properties{};
  std::size_t free = 0;
  std::size_t total = 0;
  if (hipGetDevice(&device) != hipSuccess || hipGetDeviceProperties(&properties, device) != hipSuccess ||
      hipMemGetInfo(&free, &total) != hipSuccess) {
    throw Error("backend: hip: the driver does not tell the device's properties");
  }
  facts.name = properties.name;
  facts.memory_free = static_cast<double>(free);
  facts.last_level_cache = static_cast<double>(properties.l2CacheSize);
  return facts;
}

}  // namespace

std::unique_ptr<Backend> make_hip_backend() {
  return std::make_unique<KokkosBackend<kokkos_ext::HIP>>("hip", hip_facts);
}

}  // namespace flashpad::measure

#endif
