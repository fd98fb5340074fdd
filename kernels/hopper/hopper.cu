// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/hopper/hopper.hpp"
#include "kernels/hopper/launch.hpp"
#include "kernels/hopper/tilings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace flashpad::hopper {

namespace {

/// Rows of the query heads of one key head.
std::int64_t rows_of(Shape const& s) { return s.heads / s.kv_heads * s.seq_q; }

/// Parts into which a packed call splits its keys: what ends first when every multiprocessor takes items in
/// turn, an item lasting as long as its tiles of 128 keys and two more.
int parts_of(HopperCall const& call) {
  Shape const& s = call.shape;
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

/// Whether the query heads of one key head go into one tile: the rows of all fit into two warpgroups' 128.
/// For two warpgroups' rows of one head that is so where their keys are split, and from d = 72 to 96, where
/// the tile of long rows is slower; else the latter takes 0.6 to 0.96 of the time (docs/hopper.md, "After
/// version 9").
bool packs(HopperCall const& call) {
  Shape const& s = call.shape;
  std::int64_t const d = std::max(s.head_dim, s.value_dim);
  if (rows_of(s) > 128) return false;
  return rows_of(s) <= 64 || s.heads > s.kv_heads || (d > 64 && d <= 96) || parts_of(call) > 1;
}

int splits_of(HopperCall const& call) { return packs(call) ? parts_of(call) : 1; }

template <class Tiling>
struct Type {
  using type = Tiling;
};

/// Calls `f` with each tiling that can serve a call, the best known first, until it returns true.
template <class T, class F>
bool each_tiling(HopperCall const& call, F const& f) {
  Shape const& s = call.shape;
  bool const masked = !call.mask.is_none();
  std::int64_t const d = std::max(s.head_dim, s.value_dim);
  auto const either = [&](bool second, auto one, auto other) {
    return second ? f(other) || f(one) : f(one) || f(other);
  };
  if (packs(call)) {
    if (rows_of(s) > 64) {
      if (d <= 64) return f(Type<Packed64<T, 2>>());
      return d <= 128 ? f(Type<Packed128<T, 2>>()) : f(Type<Packed256<T, 2>>());
    }
    bool const few = s.batch * s.kv_heads * splits_of(call) <= call.multiprocessors;
    if (d <= 64) return either(few, Type<Packed64Pair<T>>(), Type<Packed64<T, 1>>());
    if (d <= 128) return either(few, Type<Packed128Pair<T>>(), Type<Packed128<T, 1>>());
    return f(Type<Packed256<T, 1>>());
  }
  bool const longer = s.seq_k >= 8192;
  if (d <= 64)
    return masked ? f(Type<Tiling64Masked<T>>())
                  : either(longer, Type<Tiling64<T>>(), Type<Tiling64Long<T>>());
  if (d <= 96) return f(Type<Tiling96<T>>());
  if (d <= 128) {
    return masked ? either(longer, Type<Tiling128<T>>(), Type<Tiling128LongMasked<T>>())
                  : either(longer, Type<Tiling128<T>>(), Type<Tiling128Long<T>>());
  }
  if (d <= 192 && s.value_dim <= 128)
    return either(masked, Type<Tiling192x128<T>>(), Type<Tiling192x128Masked<T>>());
  if (d <= 192) {
    return masked ? either(s.seq_k > 1024, Type<Tiling192<T>>(), Type<Tiling192LongMasked<T>>())
                  : f(Type<Tiling192<T>>());
  }
  // Without a mask the short tile is ahead at 512, 2k and 4k keys, the long one at 1k.
  bool const long_keys = masked ? s.seq_k > 2048 : s.seq_k > 4096 || (s.seq_k > 512 && s.seq_k < 2048);
  return either(long_keys, Type<Tiling256<T>>(), Type<Tiling256Long<T>>());
}

template <class Tiling>
HopperTiling described(Shape const& s) {
  std::int64_t const heads = Tiling::manner.packed ? s.heads / s.kv_heads : 1;
  return {{static_cast<int>(Tiling::rows / heads), Tiling::keys}, Tiling::stages, static_cast<int>(heads)};
}

template <class T>
void launch_typed(HopperCall const& call, cudaStream_t stream) {
  each_tiling<T>(call, [&](auto tag) {
    using Chosen = typename decltype(tag)::type;
    if (!is_asked_for(call, described<Chosen>(call.shape))) return false;
    launch<Chosen>(call, Chosen::manner.packed ? splits_of(call) : 1, stream);
    return true;
  });
}

std::string tile_refusal(HopperCall const& call) {
  std::string allowed;
  for (HopperTiling const& tiling : hopper_tilings(call)) {
    if (is_asked_for(call, tiling)) return {};
    allowed += (allowed.empty() ? "" : ", ") + std::to_string(tiling.tile.q) + "x" +
               std::to_string(tiling.tile.k) + " with " + std::to_string(tiling.stages) + " stages";
  }
  return "tile: " + std::to_string(call.tile.q) + "x" + std::to_string(call.tile.k) + " with " +
         std::to_string(call.stages) +
         " stages is not compiled for hopper at this shape; allowed: " + allowed +
         ", or 0 to let the library choose";
}

}  // namespace

std::vector<HopperTiling> hopper_tilings(HopperCall const& call) {
  std::vector<HopperTiling> all;
  if (call.shape.kv_heads == 0) return all;
  each_tiling<__half>(call, [&](auto tag) {  // both types have the same
    all.push_back(described<typename decltype(tag)::type>(call.shape));
    return false;
  });
  return all;
}

std::string hopper_refusal(HopperCall const& call) {
  Shape const& s = call.shape;
  if (size_of(call.dtype) != 2)
    return std::string("dtype: ") + std::string(name(call.dtype)) + " is not for hopper; allowed: fp16, bf16";
  for (auto const& [argument, value] :
       {std::pair{"head_dim", s.head_dim}, std::pair{"value_dim", s.value_dim}}) {
    if (value > 256)
      return std::string(argument) + ": " + std::to_string(value) +
             " is too large for hopper; allowed: up to 256";
    if (value % 8 != 0)
      return std::string(argument) + ": " + std::to_string(value) +
             " is no multiple of 8, as hopper needs; allowed: steps of 8";
  }
  constexpr std::int64_t most = std::int64_t{1} << 29;
  for (auto const& [argument, value] :
       {std::pair{"seq_q", s.seq_q}, std::pair{"seq_k", s.seq_k},
        std::pair{"batch * heads * query tiles", s.batch * s.heads * (s.seq_q / 128 + 1)}}) {
    if (value > most)
      return std::string(argument) + ": " + std::to_string(value) +
             " is too large for hopper; allowed: up to " + std::to_string(most);
  }
  bool const asked = call.tile != Tile{} || call.stages != 0;
  if (asked && s.kv_heads > 0) {
    std::string const refusal = tile_refusal(call);
    if (!refusal.empty()) return refusal;
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
