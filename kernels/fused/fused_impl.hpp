// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/attention.hpp>

#include "attention/runner.hpp"
#include "kernels/engines/host_engines.hpp"
#include "kernels/engines/rows_engines.hpp"
#include "kernels/fused/rows_choice.hpp"
#include "kokkos_ext/execution.hpp"

#include <algorithm>
#include <type_traits>

#ifdef KOKKOS_ENABLE_CUDA
#include "kernels/fused/mma_choice.hpp"
#endif
#ifdef KOKKOS_ENABLE_HIP
#include "kernels/fused/mfma_choice.hpp"
#endif

namespace flashpad {

namespace detail {

// Each is instantiated in a file of its own, one for each backend and element type.
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_host_fused(Request<Exec> const& request, std::string const& engine_name);
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_rows_fused(Request<Exec> const& request, std::string const& engine_name);
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_simt_fused(Request<Exec> const& request);

/// Which engine serves a request: the one asked for, or the backend's best. To add an engine of a backend:
/// its file under kernels/engines, and a line here and in engine_names.
template <class Exec, class Storage, class Compute>
std::unique_ptr<Runner<Exec>> make_fused_of(Request<Exec> const& request) {
  std::string const& engine = request.options.engine;  // the plan refused those that are not available
  if constexpr (kokkos_ext::is_host<Exec>) {
    if (engines::is_rows_engine(engine) || (engine.empty() && few_rows(request.shape))) {
      return make_rows_fused<Exec, Storage, Compute>(request, engine.empty() ? "rows" : engine);
    }
    if (engine != "simt") {
      return make_host_fused<Exec, Storage, Compute>(request, engine);
    }
  }
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda> && !std::is_same_v<Storage, double>) {
    if (auto runner = make_mma<Exec, Storage>(request)) return runner;
  }
#endif
#ifdef KOKKOS_ENABLE_HIP
  if constexpr (std::is_same_v<Exec, kokkos_ext::HIP> && sizeof(Storage) == 2) {
    if (auto runner = make_mfma<Exec, Storage>(request)) return runner;
  }
#endif
  return make_simt_fused<Exec, Storage, Compute>(request);
}

template <class Exec>
std::unique_ptr<Runner<Exec>> make_fused(Request<Exec> const& request) {
  switch (request.dtype) {
    case DType::fp64: return make_fused_of<Exec, double, double>(request);
    case DType::fp32: return make_fused_of<Exec, float, float>(request);
    case DType::fp16: return make_fused_of<Exec, half, float>(request);
    case DType::bf16: return make_fused_of<Exec, bfloat16, float>(request);
  }
  throw Error("dtype: not a known element type");
}

}  // namespace detail

template <class Exec>
std::vector<std::string> engine_names([[maybe_unused]] DType dtype) {
  std::vector<std::string> names;
  if constexpr (kokkos_ext::is_host<Exec>) {
    names = engines::host_engine_names(dtype);
    for (std::string const& name : engines::rows_engine_names(dtype)) names.push_back(name);
  }
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    // Three tf32 products keep float32's precision; one is for those who ask for it by name.
    if (dtype == DType::fp32) names = {"mma-tf32x3", "mma-tf32"};
    if (size_of(dtype) == 2) names = {"mma"};
  }
#endif
#ifdef KOKKOS_ENABLE_HIP
  if constexpr (std::is_same_v<Exec, kokkos_ext::HIP>) {
    if (size_of(dtype) == 2) names = {"mfma"};
  }
#endif
  names.emplace_back("simt");
  return names;
}

template <class Exec>
std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (DType const dtype : {DType::bf16, DType::fp16, DType::fp32, DType::fp64}) {
    for (std::string const& name : engine_names<Exec>(dtype)) {
      bool const known = std::find(names.begin(), names.end(), name) != names.end();
      if (!known && name != "simt") names.push_back(name);
    }
  }
  names.emplace_back("simt");  // serves all types, and none best
  return names;
}

}  // namespace flashpad
