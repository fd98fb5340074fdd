// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#ifdef KOKKOS_ENABLE_HIP

namespace flashpad::kokkos_ext {

/// Kokkos's execution space of AMD GPUs, under the name that it had before Kokkos 4 or has since.
#if KOKKOS_VERSION >= 40000
using HIP = Kokkos::HIP;
#else
using HIP = Kokkos::Experimental::HIP;
#endif

}  // namespace flashpad::kokkos_ext

#endif
