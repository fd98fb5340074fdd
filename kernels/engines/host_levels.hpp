// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace flashpad::engines {

// Whether this processor runs what is compiled for a level of cmake/FlashpadEngine.cmake.
bool has_level_v3();
bool has_level_v4();
bool has_level_avx512_bf16();
bool has_level_amx_bf16();  ///< also asks the system, which lends tile registers on request

}  // namespace flashpad::engines
