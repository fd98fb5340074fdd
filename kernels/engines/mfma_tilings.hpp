// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mfma_engine.hpp"

#include <flashpad/options.hpp>

#include <type_traits>

namespace flashpad::engines {

/// Tile shapes of the mfma engine: one row for each head dimension up to Dim. None was measured: teams are
/// the most on a compute unit to whose registers the compiler fits the engine without a spill (tests/mfma
/// reads it from the code). gfx908 has half the registers for each wavefront, and accumulators in the other
/// half alone.
template <int Dim, bool Gfx908>
struct MfmaTilings;

constexpr int mfma_waves = 4;

//                                              Dim, waves, keys, teams, ahead
template <>
struct MfmaTilings<32, false> : MfmaTiling<32, mfma_waves, 64, 4, true> {};
template <>
struct MfmaTilings<64, false> : MfmaTiling<64, mfma_waves, 64, 2, true> {};
template <>
struct MfmaTilings<96, false> : MfmaTiling<96, mfma_waves, 32, 2, true> {};
template <>
struct MfmaTilings<128, false> : MfmaTiling<128, mfma_waves, 32, 2, true> {};
template <>
struct MfmaTilings<192, false> : MfmaTiling<192, mfma_waves, 32, 1, true> {};
template <>
struct MfmaTilings<256, false> : MfmaTiling<256, mfma_waves, 32, 1, false> {};

template <>
struct MfmaTilings<32, true> : MfmaTiling<32, mfma_waves, 64, 2, true> {};
template <>
struct MfmaTilings<64, true> : MfmaTiling<64, mfma_waves, 64, 1, true> {};
template <>
struct MfmaTilings<96, true> : MfmaTiling<96, mfma_waves, 32, 1, true> {};
template <>
struct MfmaTilings<128, true> : MfmaTiling<128, mfma_waves, 32, 1, true> {};
template <>
struct MfmaTilings<192, true> : MfmaTiling<192, mfma_waves, 32, 1, false> {};
template <>
struct MfmaTilings<256, true> : MfmaTiling<256, mfma_waves, 32, 1, false> {};

/// Calls `f` with the compiled head dimension that serves `dim`, as a std::integral_constant.
template <class F>
auto with_mfma_dim(std::int64_t dim, F const& f) {
  if (dim <= 32) return f(std::integral_constant<int, 32>());
  if (dim <= 64) return f(std::integral_constant<int, 64>());
  if (dim <= 96) return f(std::integral_constant<int, 96>());
  if (dim <= 128) return f(std::integral_constant<int, 128>());
  if (dim <= 192) return f(std::integral_constant<int, 192>());
  return f(std::integral_constant<int, 256>());
}

/// The largest tile for a head dimension, which is also the one that is used.
inline Tile mfma_tile(std::int64_t dim) {
  return with_mfma_dim(dim, [](auto bucket) {
    using Tiling = MfmaTilings<decltype(bucket)::value, false>;
    return Tile{Tiling::rows, Tiling::keys};
  });
}

}  // namespace flashpad::engines
