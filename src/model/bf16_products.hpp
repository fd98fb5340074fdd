// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace flashpad::model {

/// Products of bfloat16 that an engine of the host takes for one of this type; 0 where it takes none. One
/// that splits its operands takes six of float32's three terms, and four for the scores and three for the
/// outputs of fp16's two.
constexpr double bf16_products(std::string_view engine, std::string_view dtype) {
  if (engine.find("bf16") == std::string_view::npos) return 0;
  return dtype == "fp32" ? 6 : dtype == "fp16" ? 3.5 : 1;
}

}  // namespace flashpad::model
