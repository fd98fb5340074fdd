// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/backend.hpp"

#include <flashpad/error.hpp>

#include "problem/text.hpp"

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <map>

namespace flashpad::measure {

namespace {

struct Maker {
  char const* name;
  std::unique_ptr<Backend> (*make)();
};

// Best first: what `auto` takes.
std::vector<Maker> const& makers() {
  static std::vector<Maker> const all = {
#ifdef KOKKOS_ENABLE_CUDA
      {"cuda", make_cuda_backend},
#endif
#ifdef KOKKOS_ENABLE_HIP
      {"hip", make_hip_backend},
#endif
#ifdef KOKKOS_ENABLE_OPENMP
      {"openmp", make_openmp_backend},
#endif
#ifdef KOKKOS_ENABLE_THREADS
      {"threads", make_threads_backend},
#endif
#ifdef KOKKOS_ENABLE_SERIAL
      {"serial", make_serial_backend},
#endif
  };
  return all;
}

std::map<std::string, std::unique_ptr<Backend>>& made() {
  static std::map<std::string, std::unique_ptr<Backend>> backends;
  return backends;
}

}  // namespace

std::vector<std::string> available_backends() {
  std::vector<std::string> names;
  for (Maker const& maker : makers()) names.emplace_back(maker.name);
  return names;
}

std::string resolve_backend(std::string const& name) {
  std::vector<std::string> const names = available_backends();
  if (name == "auto") return names.front();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw Error(detail::text(
        "backend: `", name,
        "` is not available: this Kokkos was built without it; available: ", detail::joined(names)));
  }
  return name;
}

Backend& backend(std::string const& name) {
  std::string const resolved = resolve_backend(name);
  std::unique_ptr<Backend>& slot = made()[resolved];
  if (!slot) {
    slot = std::find_if(makers().begin(), makers().end(), [&](Maker const& maker) {
             return resolved == maker.name;
           })->make();
  }
  return *slot;
}

void release_backends() { made().clear(); }

}  // namespace flashpad::measure
