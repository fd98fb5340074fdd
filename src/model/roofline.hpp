// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace flashpad::model {

/// What this machine was seen to do: operations a second of the unit and element type that a kernel
/// computes in, and bytes a second from memory.
struct Peaks {
  double flops = 0;
  double bandwidth = 0;
};

/// Where a kernel stands under the roof.
struct Roof {
  double intensity = 0;   ///< flops / bytes
  double attainable = 0;  ///< min(peak flops, intensity * bandwidth), operations a second
  bool compute_bound = false;

  [[nodiscard]] std::string_view name() const { return compute_bound ? "compute" : "bandwidth"; }
};

/// `bytes` is more than 0.
Roof roof(double flops, double bytes, Peaks const& peaks);

/// A result above what the machine can do, by label: "suspect" for more operations a second than the peak, or
/// more model bytes a second than the bandwidth although the working set does not fit the last-level cache;
/// "cache-resident" where it fits; "" for a plain result.
std::string_view flag(double flops, double bytes, double seconds, double working_set, double last_level_cache,
                      Peaks const& peaks);

}  // namespace flashpad::model
