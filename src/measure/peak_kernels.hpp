// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace flashpad::measure {

/// A loop of independent fused multiply-adds in registers, for the best vector unit of this processor.
struct PeakKernel {
  char const* unit;  ///< "avx512", "avx2" or "baseline"
  double (*run)(long iterations);
  double flops_per_iteration;
};

PeakKernel peak_kernel_fp32();
PeakKernel peak_kernel_fp64();

}  // namespace flashpad::measure
