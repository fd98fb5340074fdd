// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/runner.hpp"
#include "kernels/engines/mma_products.hpp"
#include "kernels/engines/mma_tilings.hpp"
#include "kokkos_ext/execution.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <cstdint>

namespace flashpad::detail {

// One file for each Products.
template <class Exec, class Products>
std::unique_ptr<Runner<Exec>> make_mma_fused(Request<Exec> const& request, std::string const& engine_name);

/// Why the tensor cores cannot serve a request, naming the argument; empty where they can.
template <class Exec, int ElementBytes>
std::string mma_refusal(Request<Exec> const& request) {
  auto const& device = request.exec.cuda_device_prop();
  if (device.major < 8) {
    return text("engine: mma needs an NVIDIA GPU of compute capability 8.0 or newer; this one has ",
                device.major, ".", device.minor);
  }
  // Arrays with a type of their own: nvcc 13 writes out a list of std::pair in this template wrongly.
  struct Limit {
    char const* argument;
    std::int64_t value, allowed;
  };
  Shape const& shape = request.shape;
  constexpr int most_dim = engines::mma_max_dim(ElementBytes);
  Limit const dims[] = {{"head_dim", shape.head_dim, most_dim}, {"value_dim", shape.value_dim, most_dim}};
  for (Limit const& dim : dims) {
    if (dim.value > dim.allowed) {
      return text(dim.argument, ": ", dim.value, " is too large for engine mma in ", name(request.dtype),
                  "; allowed: up to ", dim.allowed);
    }
  }
  Tile const most = engines::mma_tile<ElementBytes>(std::max(shape.head_dim, shape.value_dim));
  Tile const& asked = request.options.tile;
  Limit const extents[] = {{"tile.q", asked.q, most.q}, {"tile.k", asked.k, most.k}};
  for (Limit const& extent : extents) {
    if (extent.value > extent.allowed) {
      return text(extent.argument, ": ", extent.value, " is too large for engine mma; allowed: up to ",
                  extent.allowed, ", or 0 to let the library choose");
    }
  }
  return {};
}

/// The tensor cores' engine for a type of elements, or none where the request is passed over and another
/// engine may serve it. Throws where it was asked for by name.
template <class Exec, class Storage>
std::unique_ptr<Runner<Exec>> make_mma(Request<Exec> const& request) {
  std::string const& engine = request.options.engine;
  if (engine == "simt") return nullptr;
  std::string const refusal = mma_refusal<Exec, static_cast<int>(sizeof(Storage))>(request);
  if (!refusal.empty()) {
    if (engine.empty()) return nullptr;
    throw Error(refusal);
  }
  if constexpr (sizeof(Storage) == 2) {
    return make_mma_fused<Exec, engines::Products16<Storage>>(request, "mma");
  } else {
    if (engine == "mma-tf32") return make_mma_fused<Exec, engines::ProductsTf32<false>>(request, engine);
    return make_mma_fused<Exec, engines::ProductsTf32<true>>(request, "mma-tf32x3");
  }
}

}  // namespace flashpad::detail
