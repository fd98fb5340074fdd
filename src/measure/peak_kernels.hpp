// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace flashpad::measure {

/// A loop of independent fused multiply-adds in registers, for the best vector unit of this processor.
struct PeakKernel {
  char const* unit;  ///< "avx512", "avx512-bf16", "amx-bf16", "avx2" or "baseline"
  double (*run)(long iterations);
  double flops_per_iteration;
};

PeakKernel peak_kernel_fp32();
PeakKernel peak_kernel_fp64();
/// Products of pairs of bfloat16 summed in float32; `run` is null where the processor has no instruction for
/// it.
PeakKernel peak_kernel_bf16();

}  // namespace flashpad::measure
