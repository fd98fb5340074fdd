// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

// The host's BLAS, by the functions that OpenBLAS, MKL and BLIS have beyond the standard interface.

namespace flashpad::kokkos_ext {

/// Name and version, as far as the library tells; else "unknown".
std::string blas_name();

/// Threads that it uses; empty where it does not tell.
std::optional<int> blas_threads();

/// Does nothing where the library has no such function.
void set_blas_threads(int threads);

/// Sets the threads while it lives, so that a product uses as many as the execution space that it stands for.
class BlasThreads {
 public:
  explicit BlasThreads(int threads);
  BlasThreads(BlasThreads const&) = delete;
  BlasThreads& operator=(BlasThreads const&) = delete;
  ~BlasThreads();

 private:
  std::optional<int> m_before;
};

}  // namespace flashpad::kokkos_ext
