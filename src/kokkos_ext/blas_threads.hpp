// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace flashpad::kokkos_ext {

/// Name and version of the host's BLAS where the library knows how to ask: "OpenBLAS 0.3.21 ..."; else empty.
std::string blas_name();

/// Threads that the host's BLAS uses; 0 where the library does not know how to ask.
int blas_threads();

/// Sets the threads of the host's BLAS while it lives, so that a product uses as many as the execution space
/// that it stands for. Does nothing where the library does not know how.
class BlasThreads {
 public:
  explicit BlasThreads(int threads);
  BlasThreads(BlasThreads const&) = delete;
  BlasThreads& operator=(BlasThreads const&) = delete;
  ~BlasThreads();

 private:
  int m_before;
};

}  // namespace flashpad::kokkos_ext
