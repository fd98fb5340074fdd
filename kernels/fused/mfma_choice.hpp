// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/runner.hpp"
#include "kernels/engines/mfma_tilings.hpp"
#include "kokkos_ext/execution.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <string>

namespace flashpad::detail {

// One file for each type.
template <class Exec, class Storage>
std::unique_ptr<Runner<Exec>> make_mfma_fused(Request<Exec> const& request);

/// Whether a GPU of this name ("gfx90a:sramecc+:xnack-") has the instructions that the engine is written for.
inline bool has_mfma(std::string const& architecture) {
  std::string const name = architecture.substr(0, architecture.find(':'));
  return name == "gfx908" || name == "gfx90a" || name == "gfx940" || name == "gfx941" || name == "gfx942";
}

/// Why the matrix cores cannot serve a request, naming the argument; empty where they can.
inline std::string mfma_refusal(std::string const& architecture, Shape const& shape, Options const& options) {
  if (!has_mfma(architecture)) {
    return text("engine: mfma needs an AMD GPU gfx908, gfx90a or gfx942 (MI100, MI200, MI300); this one is ",
                architecture);
  }
  Tile const most = engines::mfma_tile(std::max(shape.head_dim, shape.value_dim));
  Tile const& asked = options.tile;
  struct Limit {
    char const* argument;
    int value, allowed;
  };
  Limit const extents[] = {{"tile.q", asked.q, most.q}, {"tile.k", asked.k, most.k}};
  for (Limit const& extent : extents) {
    if (extent.value > extent.allowed) {
      return text(extent.argument, ": ", extent.value, " is too large for engine mfma; allowed: up to ",
                  extent.allowed, ", or 0 to let the library choose");
    }
  }
  Limit const fixed[] = {{"team_size", options.team_size, engines::mfma_waves},
                         {"stages", options.stages, 1}};
  for (Limit const& one : fixed) {
    if (one.value != 0 && one.value != one.allowed) {
      return text(one.argument, ": ", one.value, " is not for engine mfma, which has ", one.allowed,
                  "; allowed: ", one.allowed, ", or 0 to let the library choose");
    }
  }
  return {};
}

/// The matrix cores' engine for 16-bit elements, or none where the request is passed over and another engine
/// may serve it. Throws where it was asked for by name.
template <class Exec, class Storage>
std::unique_ptr<Runner<Exec>> make_mfma(Request<Exec> const& request) {
  std::string const& engine = request.options.engine;
  if (engine == "simt") return nullptr;
  std::string const refusal =
      mfma_refusal(request.exec.hip_device_prop().gcnArchName, request.shape, request.options);
  if (refusal.empty()) return make_mfma_fused<Exec, Storage>(request);
  if (engine.empty()) return nullptr;
  throw Error(refusal);
}

}  // namespace flashpad::detail
