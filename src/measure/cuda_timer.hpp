// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace flashpad::measure {

/// Times work on a CUDA instance by the device's own events, from idle to idle: the host's way to a launch
/// and back is not counted.
class CudaTimer {
 public:
  CudaTimer() {
    require(cudaEventCreate(&m_start));
    require(cudaEventCreate(&m_stop));
  }
  CudaTimer(CudaTimer const&) = delete;
  CudaTimer& operator=(CudaTimer const&) = delete;
  ~CudaTimer() {
    cudaEventDestroy(m_start);
    cudaEventDestroy(m_stop);
  }

  void start(Kokkos::Cuda const& exec) {
    exec.fence();
    require(cudaEventRecord(m_start, exec.cuda_stream()));
  }

  /// Seconds since start, all work on `exec` included.
  double stop(Kokkos::Cuda const& exec) {
    require(cudaEventRecord(m_stop, exec.cuda_stream()));
    require(cudaEventSynchronize(m_stop));
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, m_start, m_stop));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  static void require(cudaError_t result) {
    if (result != cudaSuccess) throw Error(std::string("CUDA events: ") + cudaGetErrorString(result));
  }

  cudaEvent_t m_start = nullptr;
  cudaEvent_t m_stop = nullptr;
};

}  // namespace flashpad::measure
