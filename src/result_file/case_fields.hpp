// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/problem.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace flashpad::results {

/// What the name of a case says (src/experiment/case_name.hpp writes it):
/// "b2_h8kv2_n512_d64_fp32_causal_seed3_fused_t64x64" has the variant "seed3" and the method "fused t64x64".
struct CaseFields {
  Shape shape;
  std::string dtype;
  std::string mask;
  std::string variant;
  std::string kernel;
  std::string method;
};

/// Empty where the name is not of that form.
std::optional<CaseFields> case_fields(std::string_view name);

}  // namespace flashpad::results
