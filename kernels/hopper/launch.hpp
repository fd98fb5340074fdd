// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/hopper/hopper.hpp"
#include "kernels/hopper/hopper_kernel.hpp"
#include "kernels/hopper/merge.hpp"
#include "kernels/hopper/sections.hpp"
#include "kernels/hopper/tensor_map.hpp"
#include "problem/folded_scale.hpp"
#include "problem/walk.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace flashpad::hopper {

inline void require(cudaError_t result, char const* what) {
  if (result != cudaSuccess) {
    throw std::runtime_error(std::string("hopper: ") + what + ": " + cudaGetErrorString(result));
  }
}

struct Specs {
  TensorSpec q, k, v, o;

  explicit Specs(HopperCall const& call) {
    Shape const& s = call.shape;
    auto const spec = [&](Operand const& operand, std::int64_t columns, std::int64_t rows,
                          std::int64_t heads) {
      return TensorSpec{operand.data,     call.dtype == DType::bf16, columns,         rows, heads, s.batch,
                        operand.stride_n, operand.stride_h,          operand.stride_b};
    };
    q = spec(call.q, s.head_dim, s.seq_q, s.heads);
    k = spec(call.k, s.head_dim, s.seq_k, s.kv_heads);
    v = spec(call.v, s.value_dim, s.seq_k, s.kv_heads);
    o = spec(call.o, s.value_dim, s.seq_q, s.heads);
  }
};

inline constexpr std::int64_t counter_bytes = 256;

template <class Tiling>
HopperParams params_of(HopperCall const& call, int splits) {
  Shape const& s = call.shape;
  Specs const specs(call);
  HopperParams p;
  p.group = static_cast<int>(s.heads / s.kv_heads);
  p.out = call.o;
  p.value_dim = static_cast<int>(s.value_dim);
  // What is read by one block only comes at 4.4 TB/s in lines of 128 bytes, and at 4.2 in pairs of them.
  auto const promotion =
      Tiling::manner.packed ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  p.k = make_tensor_map(specs.k, Tiling::keys, promotion);
  p.v = make_tensor_map(specs.v, Tiling::keys, promotion);
  if constexpr (Tiling::manner.packed) {
    p.tile_queries = Tiling::rows / p.group;
    p.q = make_packed_map(specs.q, p.group, p.tile_queries, promotion);
    p.q_box_bytes = static_cast<unsigned>(p.tile_queries * p.group * Tiling::row_bytes);
    p.heads = static_cast<int>(s.heads);
    p.batch = static_cast<int>(s.batch);
    p.partial_sums = reinterpret_cast<float2*>(static_cast<char*>(call.workspace) + counter_bytes);
    p.partial = reinterpret_cast<float*>(p.partial_sums + (splits * s.batch * s.heads * s.seq_q + 1) / 2 * 2);
  } else {
    p.tile_queries = Tiling::rows;
    p.q = make_tensor_map(specs.q, Tiling::rows, promotion);
    p.q_box_bytes = Tiling::rows * Tiling::row_bytes;
    p.o = make_tensor_map(specs.o, 64, promotion);
  }
  auto const band = BandVariant::make(s.seq_q, s.seq_k, call.mask);
  p.band = {static_cast<int>(s.seq_k), static_cast<int>(band.offset), static_cast<int>(band.left),
            static_cast<int>(band.right)};
  p.seq_q = static_cast<int>(s.seq_q);
  FoldedScale const scale = FoldedScale::of(call.scale);
  p.scale_log2 = scale.factor;
  p.sign = scale.sign;
  p.next_item = static_cast<int*>(call.workspace);
  p.lse = call.lse;
  p.schedule.heads = static_cast<int>(Tiling::manner.packed ? s.kv_heads : s.heads);
  p.schedule.all_heads = static_cast<int>(s.batch) * p.schedule.heads;
  p.schedule.query_tiles = static_cast<int>((s.seq_q + p.tile_queries - 1) / p.tile_queries);
  p.schedule.splits = splits;
  p.schedule.last_tile_first = band.right >= 0;
  if (!Tiling::manner.packed && p.schedule.last_tile_first) {
    // Warpgroups that have no rows belong to the first tile, which sees fewest keys, not to the last: a tile
    // lasts nearly as long with one warpgroup at work as with all (docs/hopper.md, version 6).
    p.first_query = static_cast<int>((s.seq_q + 63) / 64 * 64) - p.schedule.query_tiles * p.tile_queries;
  }
  set_sections(call, Tiling::manner.packed, p.schedule);
  return p;
}

/// It may begin while the parts are still under way, and then waits for them: what lies between two launches
/// is lost to a call of 130 us.
template <class Element>
void launch_merge(HopperParams const& p, cudaStream_t stream) {
  cudaLaunchAttribute early;
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(p.batch) * static_cast<unsigned>(p.heads * p.seq_q));
  config.blockDim = dim3(static_cast<unsigned>((p.value_dim + 63) / 64 * 32));
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  auto* const merge = p.schedule.splits <= 4   ? &merge_parts<Element, 4>
                      : p.schedule.splits <= 8 ? &merge_parts<Element, 8>
                                               : &merge_parts<Element, 16>;
  require(cudaLaunchKernelEx(&config, merge, p), "launch of the merge");
}

template <class Tiling>
void launch(HopperCall const& call, int splits, cudaStream_t stream) {
  HopperParams const p = params_of<Tiling>(call, splits);
  auto* const kernel = &hopper_forward<Tiling>;
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tiling::shared_bytes),
          "shared memory");
  int const blocks = std::min(call.multiprocessors * Tiling::blocks, p.schedule.size());
  kernel<<<static_cast<unsigned>(blocks), Tiling::threads, Tiling::shared_bytes, stream>>>(p);
  require(cudaGetLastError(), "launch");
  if constexpr (Tiling::manner.packed) {
    if (splits > 1) launch_merge<typename Tiling::Element>(p, stream);
  }
}

}  // namespace flashpad::hopper
