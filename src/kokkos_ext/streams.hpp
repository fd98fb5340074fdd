// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "kokkos_ext/execution.hpp"

#include <Kokkos_Core.hpp>

#include <string>

// Between Kokkos' execution space instances and the device's own queues.

namespace flashpad::kokkos_ext {

#ifdef KOKKOS_ENABLE_CUDA
using Stream = cudaStream_t;
inline Stream stream_of(Kokkos::Cuda const& exec) { return exec.cuda_stream(); }
#elif defined(KOKKOS_ENABLE_HIP)
using Stream = hipStream_t;
inline Stream stream_of(HIP const& exec) { return exec.hip_stream(); }
#else
using Stream = void*;
#endif

/// An instance on a queue that exists already, whose owner keeps it. A host backend has none: null.
template <class Exec>
Exec instance_on(void* stream) {
  if constexpr (is_host<Exec>) {
    if (stream != nullptr)
      throw Error(std::string("stream: ") + Exec::name() + " has no streams; allowed: NULL");
    return Exec();
  } else {
    return Exec(static_cast<Stream>(stream));
  }
}

/// GPUs that Kokkos could start on; it ends the program where it is told to start on another.
inline int device_count() {
  int count = 0;
#if defined(KOKKOS_ENABLE_CUDA)
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
#elif defined(KOKKOS_ENABLE_HIP)
  if (hipGetDeviceCount(&count) != hipSuccess) count = 0;
#endif
  return count;
}

}  // namespace flashpad::kokkos_ext
