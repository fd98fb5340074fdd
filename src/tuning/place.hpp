// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/config.hpp>

#include "kokkos_ext/execution.hpp"
#include "problem/text.hpp"
#include "tuning/key.hpp"

#include <algorithm>
#include <cctype>

namespace flashpad::tuning {

/// The place of an execution space instance.
template <class Exec>
Place place_of(Exec const& exec) {
  Place place;
  place.backend = Exec::name();
  std::transform(place.backend.begin(), place.backend.end(), place.backend.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  place.version = FLASHPAD_VERSION;
  if constexpr (kokkos_ext::is_host<Exec>) {
    static std::string const processor = host_device();
    place.device = processor;
    place.threads = kokkos_ext::concurrency(exec);
  }
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess) version = 0;
    place.device = exec.cuda_device_prop().name;
    place.driver = detail::text("cuda ", version / 1000, ".", version % 1000 / 10);
  }
#elif defined(KOKKOS_ENABLE_HIP)
  if constexpr (std::is_same_v<Exec, kokkos_ext::HIP>) {
    int version = 0;
    int device = 0;
    hipDeviceProp_t properties;
    if (hipDriverGetVersion(&version) != hipSuccess) version = 0;
    if (hipGetDevice(&device) == hipSuccess && hipGetDeviceProperties(&properties, device) == hipSuccess)
      place.device = detail::text(properties.name, " ", properties.gcnArchName);
    place.driver = detail::text("hip ", version);
  }
#endif
  return place;
}

}  // namespace flashpad::tuning
