// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/kokkos_backend.hpp"

#ifdef KOKKOS_ENABLE_CUDA

#include "measure/cuda_timer.hpp"

#include <cuda_runtime_api.h>

#if __has_include(<cuda_profiler_api.h>)  // a package of its own in some installations
#include <cuda_profiler_api.h>
#define FLASHPAD_HAS_CUDA_PROFILER
#endif

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

void mark_cuda_range([[maybe_unused]] bool begin) {
#ifdef FLASHPAD_HAS_CUDA_PROFILER
  if (cudaDeviceSynchronize() != cudaSuccess ||
      (begin ? cudaProfilerStart() : cudaProfilerStop()) != cudaSuccess)
    throw Error("backend: cuda: the profiler's range cannot be marked");
#else
  throw Error(
      "profile: this build lacks cuda_profiler_api.h; allowed: install CUDA's profiler API, and build again");
#endif
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
  return std::make_unique<KokkosBackend<Kokkos::Cuda, CudaTimer>>("cuda", cuda_facts, mark_cuda_range);
}

}  // namespace flashpad::measure

#endif
