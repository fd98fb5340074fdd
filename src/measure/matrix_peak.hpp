// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kokkos_ext/half.hpp"
#include "kokkos_ext/vendor_blas.hpp"
#include "measure/peaks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace flashpad::measure {

/// Whether an engine multiplies 16-bit types in a GPU's matrix units.
inline bool on_matrix_unit(std::string_view engine) {
  constexpr std::array<std::string_view, 5> engines = {"mma", "mfma", "wgmma", "cublas", "hipblas"};
  return std::find(engines.begin(), engines.end(), engine) != engines.end();
}

/// Numbers in [-1, 1) that look random: products of zeros would draw less power, and run faster.
struct FillHalves {
  half* data;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const bits = static_cast<std::uint32_t>(i) * 2654435761u;
    data[i] = from_float<half>(static_cast<float>(bits >> 8) * 0x1p-23f - 1);
  }
};

/// Device: a large fp16 product by the vendor's BLAS. Throws Error where there is none.
template <class Exec>
double matrix_peak_flops(Exec const& exec) {
  std::string const missing = kokkos_ext::VendorBlas<Exec>::missing(DType::fp16);
  if (!missing.empty()) throw Error(missing);
  constexpr std::int64_t n = 8192;
  constexpr std::int64_t matrix = n * n * 2;
  constexpr std::size_t scratch = 32 << 20;
  auto const memory = kokkos_ext::allocate(exec, "flashpad::measure::matrix_peak", 3 * matrix + scratch);
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("flashpad::measure::matrix_fill", Policy(exec, 0, 2 * n * n),
                       FillHalves{reinterpret_cast<half*>(memory.data())});
  kokkos_ext::VendorBlas<Exec> const blas(exec, memory.data() + 3 * matrix, scratch);
  kokkos_ext::BatchedProduct product;
  product.rows = product.columns = product.inner = n;
  product.count = 1;
  product.b_transposed = true;
  product.a = {memory.data(), n, 0};
  product.b = {memory.data() + matrix, n, 0};
  product.c = {memory.data() + 2 * matrix, n, 0};
  return best_rate(exec, 2.0 * n * n * n, [&] { blas.multiply(exec, DType::fp16, product); });
}

}  // namespace flashpad::measure
