// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/profiler.hpp"

#include <fmt/format.h>

namespace flashpad::profile {

std::string_view name(Range range) noexcept {
  switch (range) {
    case Range::device: return "device";
    case Range::perf: return "perf";
    case Range::callgrind: return "callgrind";
  }
  return "?";
}

std::unique_ptr<Profiler> make_profiler(std::string const& backend, Choice const& choice) {
  bool const device = backend == "cuda" || backend == "hip";
  if (choice.simulate && device) {
    throw Denied(
        fmt::format("--simulate: callgrind simulates the caches of a processor; allowed: the host's "
                    "backends, not {}",
                    backend));
  }
  if (choice.simulate) return make_callgrind(choice);
  if (backend == "cuda") return make_ncu(choice);
  if (backend == "hip") return make_rocprof(choice);
  return make_perf(choice);
}

}  // namespace flashpad::profile
