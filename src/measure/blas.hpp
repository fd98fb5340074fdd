// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

namespace flashpad::measure {

/// The host BLAS that is loaded: "OpenBLAS 0.3.21 ...", or "unknown" where its makers give no way to ask.
std::string blas_name();

/// Threads that the host BLAS uses; empty where it does not say.
std::optional<int> blas_threads();

/// Sets them where the BLAS can.
void set_blas_threads(int threads);

}  // namespace flashpad::measure
