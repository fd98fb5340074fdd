// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/kokkos_backend.hpp"
#include "measure/range_marks.hpp"

#ifdef KOKKOS_ENABLE_HIP

#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <string_view>

namespace flashpad::measure {

// rocprofv3 lists dispatches by the kernel's name, of which a functor's type is a part: range_marks.hpp.
struct FlashpadRangeBegin {
  KOKKOS_FUNCTION void operator()(int) const {}
};
struct FlashpadRangeEnd {
  KOKKOS_FUNCTION void operator()(int) const {}
};

namespace {

template <class Mark>
void launch_mark(char const* label, Mark mark) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<kokkos_ext::HIP>(0, 1), mark);
  kokkos_ext::HIP().fence();
}

void mark_hip_range(bool begin) {
  if (hipDeviceSynchronize() != hipSuccess) throw Error("backend: hip: the device does not come to rest");
  if (begin) {
    launch_mark("flashpad::profile::begin", FlashpadRangeBegin());
  } else {
    launch_mark("flashpad::profile::end", FlashpadRangeEnd());
  }
}

DeviceFacts hip_facts() {
  DeviceFacts facts;
  int device = 0;
  hipDeviceProp_t properties{};
  std::size_t free = 0;
  std::size_t total = 0;
  if (hipGetDevice(&device) != hipSuccess || hipGetDeviceProperties(&properties, device) != hipSuccess ||
      hipMemGetInfo(&free, &total) != hipSuccess) {
    throw Error("backend: hip: the driver does not tell the device's properties");
  }
  // With the architecture, "gfx90a:sramecc+:xnack-", which says what a lane has; some drivers give no name.
  std::string_view const architecture = properties.gcnArchName;
  facts.name = fmt::format("{} ({})", properties.name, architecture.substr(0, architecture.find(':')));
  facts.memory_free = static_cast<double>(free);
  facts.last_level_cache = static_cast<double>(properties.l2CacheSize);
  return facts;
}

}  // namespace

std::unique_ptr<Backend> make_hip_backend() {
  return std::make_unique<KokkosBackend<kokkos_ext::HIP>>("hip", hip_facts, mark_hip_range);
}

}  // namespace flashpad::measure

#endif
