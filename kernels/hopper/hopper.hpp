// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include <flashpad/types.hpp>

#include "kernels/operand.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace flashpad::hopper {

/// One call of the Hopper kernel on device memory.
struct HopperCall {
  Shape shape;
  DType dtype = DType::fp16;
  Mask mask;
  double scale = 1;
  Operand q, k, v, o;
  Operand lse;  ///< float32; data is null where not wanted
  /// Device memory of hopper_workspace bytes, aligned to 16; zero before the first launch with it. It serves
  /// one launch after another, of one shape or several, not two at a time.
  void* workspace = nullptr;
  int multiprocessors = 132;  ///< of the device
  Tile tile;                  ///< one of hopper_tilings(), or 0 where the kernel chooses
  int stages = 0;
};

/// A tile that is compiled: query rows (of one head) by keys, and key tiles in flight.
struct HopperTiling {
  Tile tile;
  int stages = 0;
  int heads = 1;  ///< query heads that share a tile
};

/// Whether a tiling has what the call asks for.
inline bool is_asked_for(HopperCall const& call, HopperTiling const& tiling) {
  auto const fits = [](int asked, int has) { return asked == 0 || asked == has; };
  return fits(call.tile.q, tiling.tile.q) && fits(call.tile.k, tiling.tile.k) &&
         fits(call.stages, tiling.stages);
}

/// What can serve a call of this shape, mask and type, the kernel's own choice first.
std::vector<HopperTiling> hopper_tilings(HopperCall const& call);

/// Why the kernel cannot do it, as one line that names the argument; empty where it can: 16-bit types, head
/// dimensions up to 256, sizes below 2^29, and rows that the copy engine can address (16-byte alignment).
std::string hopper_refusal(HopperCall const& call);

/// Bytes of workspace that launch_hopper needs for this call: a pure function of its shape, mask, types and
/// number of multiprocessors.
std::int64_t hopper_workspace(HopperCall const& call);

/// Enqueues the call. Throws std::runtime_error with hopper_refusal's line, or with CUDA's own.
void launch_hopper(HopperCall const& call, cudaStream_t stream);

}  // namespace flashpad::hopper
