// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "model/counts.hpp"

#include <cstdint>
#include <optional>

// Why to fuse, in closed forms: traffic, intensity and what a tile takes on chip.

namespace flashpad::model {

/// One head with N queries and keys and d = dv, all of whose elements (Q, K, V, O, scores, probabilities)
/// take `element` bytes. What the general counts of counts.hpp are for `naive-vendor` and `fused` without a
/// mask.
struct OneHead {
  double n = 0;
  double d = 0;
  double element = 2;

  [[nodiscard]] double scores() const { return element * n * n; }
  /// Q, K, V and O once.
  [[nodiscard]] double fused() const { return 4 * element * n * d; }
  /// The scores cross the memory's boundary four times beside them: written, read, written as probabilities,
  /// read.
  [[nodiscard]] double unfused() const { return fused() + 4 * scores(); }
  /// unfused / fused: the element's width cancels.
  [[nodiscard]] double ratio() const { return 1 + n / d; }
  [[nodiscard]] double flops() const { return 4 * n * n * d; }
  [[nodiscard]] double intensity_fused() const { return n / element; }
  [[nodiscard]] double intensity_unfused() const { return 2 / element * n * d / (2 * (n + d)); }
  /// What intensity_unfused comes to as N grows: d / 2 for two bytes.
  [[nodiscard]] double intensity_limit() const { return d / element; }
};

/// Share of all tiles that a causal walk visits with T square tiles on a side: (1 + 2 + ... + T) / T^2.
constexpr double causal_share(double tiles) { return (tiles + 1) / (2 * tiles); }

/// The same work with n keys, and as many queries where it has as many now; else with its own queries
/// (decode).
Work at_length(Work const& work, std::int64_t n);

/// The least length (as at_length has it) from which the kernel does at least `ridge` operations a byte of
/// its modelled traffic: there compute limits it, and no longer memory. Empty where no length does.
std::optional<std::int64_t> compute_bound_from(Kernel kernel, Work const& work, double ridge);

/// What intensity comes to as the length grows; empty where it grows without end (tiled kernels).
std::optional<double> intensity_limit(Kernel kernel, Work const& work);

/// The accumulator of a query tile: rows x value_dim numbers of the type of arithmetic.
inline double accumulator_bytes(int rows, std::int64_t value_dim, DType dtype) {
  return static_cast<double>(rows) * static_cast<double>(value_dim) * score_bytes(dtype);
}

/// 32-bit registers of one lane that `bytes` take when `warps` warps (wavefronts) of `lanes` lanes share
/// them.
constexpr double registers_per_lane(double bytes, int warps, int lanes) {
  return bytes / 4 / (warps * lanes);
}

}  // namespace flashpad::model
