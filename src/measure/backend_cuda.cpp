// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/kokkos_backend.hpp"

#ifdef KOKKOS_ENABLE_CUDA

#include "measure/cuda_timer.hpp"

#include <cuda_runtime_api.h>

namespace flashpad::measure {

namespace {

DeviceFacts cuda_facts() {
  DeviceFacts facts;
  int device = 0;
  cudaDeviceProp properties{};
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess ||
      cudaMemGetInfo(&free, &total) != cudaSuccess) {
    throw Error("backend: cuda: the driver does not tell the device's properties");
  }
  facts.name = properties.name;
  facts.memory_free = static_cast<double>(free);
  facts.last_level_cache = static_cast<double>(properties.l2CacheSize);
  return facts;
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
  return std::make_unique<KokkosBackend<Kokkos::Cuda, CudaTimer>>("cuda", cuda_facts);
}

}  // namespace flashpad::measure

#endif
