// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/error.hpp>
#include <flashpad/options.hpp>

#include "problem/text.hpp"

#include <array>

namespace flashpad {

namespace {

struct NamedKernel {
  std::string_view name;
  Kernel kernel;
};

constexpr std::array kernels = {NamedKernel{"auto", Kernel::automatic},
                                NamedKernel{"naive", Kernel::naive},
                                NamedKernel{"naive-vendor", Kernel::naive_vendor},
                                NamedKernel{"fused", Kernel::fused},
                                NamedKernel{"hopper", Kernel::hopper},
                                NamedKernel{"stats", Kernel::stats}};

}  // namespace

std::string_view name(Kernel kernel) noexcept {
  for (NamedKernel const& known : kernels) {
    if (known.kernel == kernel) return known.name;
  }
  return "?";
}

Kernel kernel_from_name(std::string_view name) {
  for (NamedKernel const& known : kernels) {
    if (known.name == name) return known.kernel;
  }
  throw Error(detail::text("kernel: `", name, "` is not known; allowed: ", detail::joined(kernel_names())));
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (NamedKernel const& known : kernels) names.emplace_back(known.name);
  return names;
}

}  // namespace flashpad
