// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/blas_threads.hpp"

// OpenBLAS's own functions: no standard BLAS interface sets threads. Declared here because not every
// distribution installs its header under the same name.
#ifdef FLASHPAD_HAS_OPENBLAS
extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int threads);
char* openblas_get_config();
}
#endif

namespace flashpad::kokkos_ext {

#ifdef FLASHPAD_HAS_OPENBLAS

std::string blas_name() { return openblas_get_config(); }
int blas_threads() { return openblas_get_num_threads(); }

BlasThreads::BlasThreads(int threads) : m_before(openblas_get_num_threads()) {
  if (threads != m_before) openblas_set_num_threads(threads);
}

BlasThreads::~BlasThreads() {
  if (openblas_get_num_threads() != m_before) openblas_set_num_threads(m_before);
}

#else

std::string blas_name() { return {}; }
int blas_threads() { return 0; }
BlasThreads::BlasThreads(int) : m_before(0) {}
BlasThreads::~BlasThreads() = default;

#endif

}  // namespace flashpad::kokkos_ext
