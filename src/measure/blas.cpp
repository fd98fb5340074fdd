// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/blas.hpp"

#include <dlfcn.h>

namespace flashpad::measure {

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
  if (auto const get = loaded<int (*)()>("openblas_get_num_threads")) return get();
  if (auto const get = loaded<int (*)()>("MKL_Get_Max_Threads")) return get();
  return std::nullopt;
}

void set_blas_threads(int threads) {
  if (auto const set = loaded<void (*)(int)>("openblas_set_num_threads")) set(threads);
  if (auto const set = loaded<void (*)(int)>("MKL_Set_Num_Threads")) set(threads);
}

}  // namespace flashpad::measure
