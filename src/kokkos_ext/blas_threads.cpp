// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/blas_threads.hpp"

#include <dlfcn.h>

namespace flashpad::kokkos_ext {

namespace {

// Kokkos Kernels decides which BLAS is linked, and its alternatives swap at load time: look, do not link.
template <class Function>
Function loaded(char const* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));
}

}  // namespace

std::string blas_name() {
  if (auto const config = loaded<char* (*)()>("openblas_get_config")) return config();
  if (loaded<void*>("MKL_Get_Max_Threads") != nullptr) return "MKL";
  if (auto const version = loaded<char const* (*)()>("bli_info_get_version_str")) {
    return std::string("BLIS ") + version();
  }
  return "unknown";
}

std::optional<int> blas_threads() {
  static auto const openblas = loaded<int (*)()>("openblas_get_num_threads");
  static auto const mkl = loaded<int (*)()>("MKL_Get_Max_Threads");
  if (openblas != nullptr) return openblas();
  if (mkl != nullptr) return mkl();
  return std::nullopt;
}

void set_blas_threads(int threads) {
  static auto const openblas = loaded<void (*)(int)>("openblas_set_num_threads");
  static auto const mkl = loaded<void (*)(int)>("MKL_Set_Num_Threads");
  if (openblas != nullptr) openblas(threads);
  if (mkl != nullptr) mkl(threads);
}

BlasThreads::BlasThreads(int threads) : m_before(blas_threads()) {
  if (m_before && *m_before != threads) set_blas_threads(threads);
}

BlasThreads::~BlasThreads() {
  if (m_before && *m_before != blas_threads()) set_blas_threads(*m_before);
}

}  // namespace flashpad::kokkos_ext
