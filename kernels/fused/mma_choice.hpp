// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/runner.hpp"
#include "kernels/engines/mma_products.hpp"
#include "kernels/engines/mma_tilings.hpp"
#include "kokkos_ext/execution.hpp"
#include "problem/text.hpp"

#include <algorithm>

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
  constexpr int most_dim = engines::mma_max_dim(ElementBytes);
  for (auto const& [argument, value] :
       {std::pair{"head_dim", request.shape.head_dim}, std::pair{"value_dim", request.shape.value_dim}}) {
    if (value > most_dim) {
      return text(argument, ": ", value, " is too large for engine mma in ", name(request.dtype),
                  "; allowed: up to ", most_dim);
    }
  }
  Tile const most =
      engines::mma_tile<ElementBytes>(std::max(request.shape.head_dim, request.shape.value_dim));
  Tile const& asked = request.options.tile;
  for (auto const& [argument, value, allowed] :
       {std::tuple{"tile.q", asked.q, most.q}, std::tuple{"tile.k", asked.k, most.k}}) {
    if (value > allowed) {
      return text(argument, ": ", value, " is too large for engine mma; allowed: up to ", allowed,
                  ", or 0 to let the library choose");
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
