// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "model/counts.hpp"

#include <cstdint>
#include <optional>

// Memory of one measured case, foreseen before any of it is allocated.

namespace flashpad::model {

/// Every tensor of a copy of the inputs starts on a boundary that suits every vector unit.
constexpr std::int64_t tensor_alignment = 256;

/// Copies of the inputs that are made at most: small ones would take longer to fill than to measure.
constexpr std::int64_t most_copies = 4096;

/// Bytes by what they are for; doubles, because the sizes of a refused case may pass 64 bits.
struct Footprint {
  double inputs = 0;    ///< one copy of Q, K and V in the case's type, each padded to tensor_alignment
  double elements = 0;  ///< as inputs, without the padding
  double outputs = 0;   ///< O and LSE, or max and sum
  /// The driver's own copies on the host: inputs and outputs in float64, inputs packed, outputs fetched.
  double driver = 0;
  double workspace_min = 0;  ///< the least that the kernel needs beside them
};

Footprint footprint(Kernel kernel, Work const& work);

/// What there is: bytes on the host, and on a device that has memory of its own.
struct Memory {
  double host = 0;
  std::optional<double> device;
};

/// How a case fits: copies of the inputs and what is left for the kernel's workspace, or what is missing.
struct Fit {
  bool fits = false;
  double needed = 0;  ///< with one copy of the inputs and the smallest workspace
  std::int64_t copies = 1;
  double workspace = 0;
};

/// Takes up to `copies_wanted` copies of the inputs, fewer where memory is short.
Fit fit(Footprint const& need, Memory const& memory, std::int64_t copies_wanted);

/// Copies of the inputs that together are more than twice the last-level cache, so that going round them
/// finds none of them cached. `inputs` is without padding, which no call touches.
std::int64_t copies_past_cache(double inputs, double last_level_cache);

}  // namespace flashpad::model
