// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/hopper/hopper.hpp"
#include "kernels/hopper/hopper_kernel.hpp"
#include "kernels/hopper/tensor_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace flashpad::hopper {

namespace {

// Tile shapes are data: measured on an H200 (docs/hopper.md). Three warpgroups of consumers for d = 64: there
// the exponentials take as long as the products, and a third warpgroup fills what two leave.
template <class T>
using Tiling64 = Tiling<T, 64, 64, 3, 128, 4>;
template <class T>
using Tiling128 = Tiling<T, 128, 128, 2, 128, 2>;

TensorSpec spec_of(Operand const& operand, bool bfloat16, std::int64_t columns, std::int64_t rows,
                   std::int64_t heads, std::int64_t batch) {
  return {operand.data,     bfloat16,         columns,         rows, heads, batch,
          operand.stride_n, operand.stride_h, operand.stride_b};
}

struct Specs {
  TensorSpec q, k, v, o;
};

Specs specs_of(HopperCall const& call) {
  Shape const& s = call.shape;
  bool const bfloat16 = call.dtype == DType::bf16;
  return {spec_of(call.q, bfloat16, s.head_dim, s.seq_q, s.heads, s.batch),
          spec_of(call.k, bfloat16, s.head_dim, s.seq_k, s.kv_heads, s.batch),
          spec_of(call.v, bfloat16, s.value_dim, s.seq_k, s.kv_heads, s.batch),
          spec_of(call.o, bfloat16, s.value_dim, s.seq_q, s.heads, s.batch)};
}

void require(cudaError_t result, char const* what) {
  if (result != cudaSuccess) {
    throw std::runtime_error(std::string("hopper: ") + what + ": " + cudaGetErrorString(result));
  }
}

template <class Tiling>
HopperParams params_of(HopperCall const& call) {
  Shape const& s = call.shape;
  Specs const specs = specs_of(call);
  HopperParams p;
  p.q = make_tensor_map(specs.q, Tiling::rows);
  p.k = make_tensor_map(specs.k, Tiling::keys);
  p.v = make_tensor_map(specs.v, Tiling::keys);
  p.o = make_tensor_map(specs.o, 64);
  p.variant = BandVariant::make(s.seq_q, s.seq_k, call.mask);
  p.seq_q = static_cast<int>(s.seq_q);
  p.seq_k = static_cast<int>(s.seq_k);
  p.offset = static_cast<int>(p.variant.offset);
  p.left = static_cast<int>(p.variant.left);
  p.right = static_cast<int>(p.variant.right);
  p.group = static_cast<int>(s.heads / s.kv_heads);
  constexpr double log2_e = 1.4426950408889634;
  p.scale_log2 = call.scale == 0 ? 1.0f : static_cast<float>(std::fabs(call.scale) * log2_e);
  p.sign = call.scale == 0 ? 0.0f : call.scale < 0 ? -1.0f : 1.0f;
  p.next_item = static_cast<int*>(call.workspace);
  p.lse = call.lse;
  p.schedule.heads = static_cast<int>(s.heads);
  p.schedule.all_heads = static_cast<int>(s.batch * s.heads);
  p.schedule.query_tiles = static_cast<int>((s.seq_q + Tiling::rows - 1) / Tiling::rows);
  p.schedule.last_tile_first = p.variant.right >= 0;
  // Heads whose K and V fill 32 of the 50 to 60 MB of second-level cache are worked on together.
  constexpr double section_bytes = 32e6;
  double const head_bytes = 2.0 * static_cast<double>(s.seq_k * (s.head_dim + s.value_dim)) / p.group;
  double const section =
      std::min(static_cast<double>(p.schedule.all_heads), section_bytes / std::max(head_bytes, 1.0));
  p.schedule.section = std::max(1, static_cast<int>(section));
  return p;
}

template <class Tiling>
void launch(HopperCall const& call, cudaStream_t stream) {
  HopperParams const p = params_of<Tiling>(call);
  auto* const kernel = &hopper_forward<Tiling>;
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tiling::shared_bytes),
          "shared memory");
  int const blocks = std::min(call.multiprocessors, p.schedule.size());
  kernel<<<static_cast<unsigned>(blocks), Tiling::threads, Tiling::shared_bytes, stream>>>(p);
  require(cudaGetLastError(), "launch");
}

template <class T>
void launch_typed(HopperCall const& call, cudaStream_t stream) {
  if (std::max(call.shape.head_dim, call.shape.value_dim) <= 64) {
    launch<Tiling64<T>>(call, stream);
  } else {
    launch<Tiling128<T>>(call, stream);
  }
}

}  // namespace

std::string hopper_refusal(HopperCall const& call) {
  Shape const& s = call.shape;
  if (size_of(call.dtype) != 2)
    return std::string("dtype: ") + std::string(name(call.dtype)) + " is not for hopper; allowed: fp16, bf16";
  for (auto const& [argument, value] :
       {std::pair{"head_dim", s.head_dim}, std::pair{"value_dim", s.value_dim}}) {
    if (value > 128)
      return std::string(argument) + ": " + std::to_string(value) +
             " is too large for hopper; allowed: up to 128";
  }
  constexpr std::int64_t most = std::numeric_limits<int>::max() / 2;
  for (auto const& [argument, value] :
       {std::pair{"seq_q", s.seq_q}, std::pair{"seq_k", s.seq_k},
        std::pair{"batch * heads * query tiles", s.batch * s.heads * (s.seq_q / 128 + 1)}}) {
    if (value > most)
      return std::string(argument) + ": " + std::to_string(value) +
             " is too large for hopper; allowed: up to " + std::to_string(most);
  }
  Specs const specs = specs_of(call);
  for (auto const& [argument, spec] : {std::pair{"q", &specs.q}, std::pair{"k", &specs.k},
                                       std::pair{"v", &specs.v}, std::pair{"o", &specs.o}}) {
    std::string const reason = tensor_map_refusal(*spec);
    if (!reason.empty())
      return std::string(argument) + ": " + reason + "; the copy engine of hopper needs it";
  }
  return {};
}

std::int64_t hopper_workspace(HopperCall const&) { return 2 * sizeof(int); }

void launch_hopper(HopperCall const& call, cudaStream_t stream) {
  std::string const refusal = hopper_refusal(call);
  if (!refusal.empty()) throw std::runtime_error(refusal);
  if (call.shape.batch == 0 || call.shape.heads == 0 || call.shape.seq_q == 0) return;
  if (call.workspace == nullptr) throw std::runtime_error("hopper: the call has no workspace");
  call.dtype == DType::bf16 ? launch_typed<__nv_bfloat16>(call, stream) : launch_typed<__half>(call, stream);
}

}  // namespace flashpad::hopper
