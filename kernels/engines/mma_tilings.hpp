// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mma_engine.hpp"

#include <flashpad/options.hpp>

#include <type_traits>

namespace flashpad::engines {

/// Tile shapes of the mma engine: one row for each size of element and head dimension up to Dim. All fit
/// 40,936 bytes of scratch, what Kokkos up to 5.1 gives a team on CUDA, and none spills there. Measured on an
/// H200 (docs/mma.md) side by side in the engine's first version; hidden size 2048, N = 2048 and 16384 full,
/// TFLOP/s:
template <int ElementBytes, int Dim>
struct MmaTilings;

//                                      Dim, fragments, warps, keys, run, stages, teams
template <>
struct MmaTilings<2, 32> : MmaTiling<32, 2, 4, 64, 32, 2, 3> {};
// Three teams of 165 registers: 299 and 321. Two of 195: 271 and 296; one fragment a warp, which reads K and
// V twice as often, in four teams: 244 and 268.
template <>
struct MmaTilings<2, 64> : MmaTiling<64, 2, 4, 64, 32, 2, 3> {};
template <>
struct MmaTilings<2, 96> : MmaTiling<96, 2, 4, 32, 32, 2, 2> {};
// Q (64 registers) and O (128) leave room for the scores of 16 keys: 331 and 342. Two warps a team, which
// bring K and V for half the rows: 285 and 300. One fragment a warp, 32 keys a run: 240 and 267.
template <>
struct MmaTilings<2, 128> : MmaTiling<128, 2, 4, 32, 16, 2, 2> {};
template <>
struct MmaTilings<2, 192> : MmaTiling<192, 1, 4, 16, 16, 2, 2> {};
template <>
struct MmaTilings<2, 256> : MmaTiling<256, 1, 4, 16, 16, 2, 2> {};

template <>
struct MmaTilings<4, 32> : MmaTiling<32, 1, 4, 32, 32, 2, 3> {};
template <>
struct MmaTilings<4, 64> : MmaTiling<64, 1, 4, 32, 32, 2, 3> {};
template <>
struct MmaTilings<4, 96> : MmaTiling<96, 1, 4, 16, 16, 2, 2> {};
template <>
struct MmaTilings<4, 128> : MmaTiling<128, 1, 4, 16, 16, 2, 2> {};

/// Tilings that a caller may ask for by tile, team size and stages: what `flashpad tune` tries beside the one
/// above. Each costs a compilation, so there are some for 16-bit types and the usual head dimensions only, in
/// parts that are files of their own. All fit 40,936 bytes of scratch, and none spills.
template <class... Tilings>
struct MmaTilingList {};

template <int ElementBytes, int Dim>
inline constexpr bool has_mma_variants = ElementBytes == 2 && (Dim == 64 || Dim == 128);

template <int Dim, int Part>
struct MmaVariants;
template <>
struct MmaVariants<64, 0> {
  using List = MmaTilingList<MmaTiling<64, 1, 4, 32, 32, 2, 4>, MmaTiling<64, 1, 4, 32, 32, 3, 4>,
                             MmaTiling<64, 1, 4, 32, 32, 4, 4>, MmaTiling<64, 1, 4, 64, 32, 2, 4>>;
};
// In two teams: in three they spill (docs/mma.md).
template <>
struct MmaVariants<64, 1> {
  using List = MmaTilingList<MmaTiling<64, 2, 4, 32, 32, 2, 2>, MmaTiling<64, 2, 4, 32, 32, 3, 2>,
                             MmaTiling<64, 2, 4, 32, 32, 4, 2>>;
};
template <>
struct MmaVariants<64, 2> {
  using List = MmaTilingList<MmaTiling<64, 1, 8, 32, 32, 2, 2>, MmaTiling<64, 1, 8, 32, 32, 3, 2>,
                             MmaTiling<64, 1, 8, 32, 32, 4, 2>, MmaTiling<64, 1, 8, 64, 32, 2, 2>>;
};
template <>
struct MmaVariants<128, 0> {
  using List = MmaTilingList<MmaTiling<128, 1, 4, 16, 16, 2, 3>, MmaTiling<128, 1, 4, 16, 16, 3, 3>,
                             MmaTiling<128, 1, 4, 16, 16, 4, 3>, MmaTiling<128, 1, 4, 32, 16, 2, 3>>;
};
template <>
struct MmaVariants<128, 1> {
  using List = MmaTilingList<MmaTiling<128, 2, 4, 16, 16, 2, 2>, MmaTiling<128, 2, 4, 16, 16, 3, 2>,
                             MmaTiling<128, 2, 4, 16, 16, 4, 2>>;
};
template <>
struct MmaVariants<128, 2> {
  using List = MmaTilingList<MmaTiling<128, 1, 8, 16, 16, 2, 1>, MmaTiling<128, 1, 8, 16, 16, 3, 1>,
                             MmaTiling<128, 1, 8, 16, 16, 4, 1>, MmaTiling<128, 1, 8, 32, 16, 2, 1>>;
};

/// The largest head dimension: above 128, a float32 Q and O exceed a warp's registers.
constexpr int mma_max_dim(int element_bytes) { return element_bytes == 4 ? 128 : 256; }

/// Calls `f` with the compiled head dimension that serves `dim`, as a std::integral_constant.
template <int ElementBytes, class F>
auto with_mma_dim(std::int64_t dim, F const& f) {
  if (dim <= 32) return f(std::integral_constant<int, 32>());
  if (dim <= 64) return f(std::integral_constant<int, 64>());
  if (dim <= 96) return f(std::integral_constant<int, 96>());
  if constexpr (mma_max_dim(ElementBytes) > 128) {
    if (dim > 192) return f(std::integral_constant<int, 256>());
    if (dim > 128) return f(std::integral_constant<int, 192>());
  }
  return f(std::integral_constant<int, 128>());
}

/// The largest tile for a head dimension, which is also the best one known.
template <int ElementBytes>
Tile mma_tile(std::int64_t dim) {
  return with_mma_dim<ElementBytes>(dim, [](auto bucket) {
    using Tiling = MmaTilings<ElementBytes, decltype(bucket)::value>;
    return Tile{Tiling::rows, Tiling::keys};
  });
}

}  // namespace flashpad::engines
