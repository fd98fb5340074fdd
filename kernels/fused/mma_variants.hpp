// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/fused/mma_fused.hpp"

#include <type_traits>

namespace flashpad::detail {

template <class Exec, class Products, class... Tilings>
std::unique_ptr<Runner<Exec>> make_mma_one_of(Request<Exec> const& request, std::string const& engine_name,
                                              Serves wanted, engines::MmaTilingList<Tilings...>) {
  std::unique_ptr<Runner<Exec>> runner;
  auto const attempt = [&](auto tag) {
    using Tiling = typename decltype(tag)::type;
    if (!runner && mma_serves<Tiling>(request.options) == wanted)
      runner = make_mma_fused_with<Exec, Products, Tiling>(request, engine_name);
  };
  (attempt(std::common_type<Tilings>()), ...);
  return runner;
}

template <class Exec, class Products, int Dim, int Part>
std::unique_ptr<Runner<Exec>> make_mma_variant(Request<Exec> const& request, std::string const& engine_name,
                                               Serves wanted) {
  return make_mma_one_of<Exec, Products>(request, engine_name, wanted,
                                         typename engines::MmaVariants<Dim, Part>::List());
}

}  // namespace flashpad::detail
