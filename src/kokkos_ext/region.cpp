// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/region.hpp"

#include <Kokkos_Core.hpp>

namespace flashpad::kokkos_ext {

Region::Region(std::string const& name) { Kokkos::Profiling::pushRegion(name); }

Region::~Region() { Kokkos::Profiling::popRegion(); }

}  // namespace flashpad::kokkos_ext
