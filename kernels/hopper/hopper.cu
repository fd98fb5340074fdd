// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/hopper/hopper.hpp"
#include "kernels/hopper/launch.hpp"
#include "kernels/hopper/tilings.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace flashpad::hopper {

namespace {

/// Whether the query heads of one key head go into one tile: the rows of all fit into two warpgroups' 128.
bool packs(Shape const& s) { return s.heads / s.kv_heads * s.seq_q <= 128; }

/// Parts into which a packed call splits its keys: what ends first when every multiprocessor takes items in
/// turn, an item lasting as long as its tiles of 128 keys and two more.
int splits_of(HopperCall const& call) {
  Shape const& s = call.shape;
  if (!packs(s)) return 1;
  std::int64_t const items = s.batch * s.kv_heads;
  auto const band = BandVariant::make(s.seq_q, s.seq_k, call.mask);
  std::int64_t const tiles = (band.any(0, s.seq_q).size() + 127) / 128;
  int best = 1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int splits = 1; splits <= std::max<std::int64_t>(tiles, 1); ++splits) {
    // More items than this even out by themselves; it also bounds the workspace.
    if (splits > 1 && items * splits > std::int64_t{16} * call.multiprocessors) break;
    double const rounds = std::ceil(static_cast<double>(items * splits) / call.multiprocessors);
    double const cost = rounds * (std::ceil(static_cast<double>(tiles) / splits) + 2);
    if (cost < best_cost) {
      best = splits;
      best_cost = cost;
    }
  }
  return best;
}

template <class T, int Warpgroups>
void launch_packed(HopperCall const& call, int splits, cudaStream_t stream) {
  std::int64_t const d = std::max(call.shape.head_dim, call.shape.value_dim);
  if (d <= 64) return launch<Packed64<T, Warpgroups>>(call, splits, stream);
  if (d <= 128) return launch<Packed128<T, Warpgroups>>(call, splits, stream);
  launch<Packed256<T, Warpgroups>>(call, splits, stream);
}

template <class T>
void launch_typed(HopperCall const& call, cudaStream_t stream) {
  Shape const& s = call.shape;
  bool const masked = !call.mask.is_none();
  std::int64_t const d = std::max(s.head_dim, s.value_dim);
  if (packs(s)) {
    bool const one = s.heads / s.kv_heads * s.seq_q <= 64;
    return one ? launch_packed<T, 1>(call, splits_of(call), stream)
               : launch_packed<T, 2>(call, splits_of(call), stream);
  }
  if (d <= 64)
    return masked ? launch<Tiling64Masked<T>>(call, 1, stream) : launch<Tiling64<T>>(call, 1, stream);
  if (d <= 96) return launch<Tiling96<T>>(call, 1, stream);
  if (d <= 128) {
    if (s.seq_k < 8192) return launch<Tiling128<T>>(call, 1, stream);
    return masked ? launch<Tiling128LongMasked<T>>(call, 1, stream)
                  : launch<Tiling128Long<T>>(call, 1, stream);
  }
  if (d <= 192 && s.value_dim <= 128) {
    return masked ? launch<Tiling192x128Masked<T>>(call, 1, stream)
                  : launch<Tiling192x128<T>>(call, 1, stream);
  }
  if (d <= 192) {
    bool const longer = !masked && s.seq_k > 1024;
    return longer ? launch<Tiling192Long<T>>(call, 1, stream) : launch<Tiling192<T>>(call, 1, stream);
  }
  launch<Tiling256<T>>(call, 1, stream);
}

}  // namespace

std::string hopper_refusal(HopperCall const& call) {
  Shape const& s = call.shape;
  if (size_of(call.dtype) != 2)
    return std::string("dtype: ") + std::string(name(call.dtype)) + " is not for hopper; allowed: fp16, bf16";
  for (auto const& [argument, value] :
       {std::pair{"head_dim", s.head_dim}, std::pair{"value_dim", s.value_dim}}) {
    if (value > 256)
      return std::string(argument) + ": " + std::to_string(value) +
             " is too large for hopper; allowed: up to 256";
  }
  constexpr std::int64_t most = std::int64_t{1} << 29;
  for (auto const& [argument, value] :
       {std::pair{"seq_q", s.seq_q}, std::pair{"seq_k", s.seq_k},
        std::pair{"batch * heads * query tiles", s.batch * s.heads * (s.seq_q / 128 + 1)}}) {
    if (value > most)
      return std::string(argument) + ": " + std::to_string(value) +
             " is too large for hopper; allowed: up to " + std::to_string(most);
  }
  Specs const specs(call);
  for (auto const& [argument, spec] : {std::pair{"q", &specs.q}, std::pair{"k", &specs.k},
                                       std::pair{"v", &specs.v}, std::pair{"o", &specs.o}}) {
    std::string const reason = tensor_map_refusal(*spec);
    if (!reason.empty())
      return std::string(argument) + ": " + reason + "; the copy engine of hopper needs it";
  }
  return {};
}

std::int64_t hopper_workspace(HopperCall const& call) {
  Shape const& s = call.shape;
  int const splits = s.batch == 0 || s.heads == 0 || s.seq_q == 0 ? 1 : splits_of(call);
  if (splits == 1) return counter_bytes;
  std::int64_t const rows = splits * s.batch * s.heads * s.seq_q;
  return counter_bytes + 8 * ((rows + 1) / 2 * 2) + 4 * rows * s.value_dim;
}

void launch_hopper(HopperCall const& call, cudaStream_t stream) {
  std::string const refusal = hopper_refusal(call);
  if (!refusal.empty()) throw std::runtime_error(refusal);
  if (call.shape.batch == 0 || call.shape.heads == 0 || call.shape.seq_q == 0) return;
  if (call.workspace == nullptr) throw std::runtime_error("hopper: the call has no workspace");
  call.dtype == DType::bf16 ? launch_typed<__nv_bfloat16>(call, stream) : launch_typed<__half>(call, stream);
}

}  // namespace flashpad::hopper
