// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include <flashpad/types.hpp>

#include <cstdint>
#include <string>

namespace flashpad::tuning {

/// Where a plan runs, as far as it may change which tile is best.
struct Place {
  std::string device;   ///< name of the GPU, or of the processor
  std::string driver;   ///< "cuda 13.0"; empty on the host
  std::string backend;  ///< "openmp", "cuda", ...
  int threads = 0;      ///< of a host backend; 0 on a GPU
  std::string version;  ///< of Flashpad
};

/// Lengths share a tile up to the next power of two: the bucket that `n` is in, 0 for 0.
std::int64_t bucket(std::int64_t n);

/// What a tuned tile is filed under, as one line of JSON: all that may change which tile is best, and no
/// more. The batch and the number of heads are not in it: they change how many tiles there are, not what one
/// costs.
std::string key_of(Place const& place, Shape const& shape, DType dtype, Mask const& mask, Kernel kernel,
                   std::string const& engine);

/// The processor's name in /proc/cpuinfo, or the machine's architecture.
std::string host_device();

}  // namespace flashpad::tuning
