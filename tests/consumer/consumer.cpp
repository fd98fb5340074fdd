// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention with a result known in closed form. All keys are equal, so every visible key weighs the same: a
// row of O is the mean of the values that the row sees, and lse = score + log(number of keys seen).
#include <flashpad/attention.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Tensor = Kokkos::View<float****, Kokkos::LayoutRight, Exec>;
using Rows = Kokkos::View<float***, Kokkos::LayoutRight, Exec>;

constexpr int batch = 2, heads = 4, kv_heads = 2, seq = 33, head_dim = 32, value_dim = 16;

float value_at(int b, int g, int j, int c) {
  return static_cast<float>(b + 10 * g - j) + 0.25F * static_cast<float>(c);
}

int count_wrong(Exec const& exec, flashpad::Kernel kernel) {
  Tensor const q("q", batch, heads, seq, head_dim), k("k", batch, kv_heads, seq, head_dim);
  Tensor const v("v", batch, kv_heads, seq, value_dim), o("o", batch, heads, seq, value_dim);
  Rows const lse("lse", batch, heads, seq);
  Kokkos::deep_copy(q, 0.5F);
  Kokkos::deep_copy(k, 0.25F);
  auto const v_host = Kokkos::create_mirror_view(v);
  for (int b = 0; b < batch; ++b)
    for (int g = 0; g < kv_heads; ++g)
      for (int j = 0; j < seq; ++j)
        for (int c = 0; c < value_dim; ++c) v_host(b, g, j, c) = value_at(b, g, j, c);
  Kokkos::deep_copy(v, v_host);

  flashpad::Options options;
  options.mask = flashpad::Mask::causal();
  options.kernel = kernel;
  flashpad::attention(exec, q, k, v, o, lse, options);
  exec.fence();

  auto const o_host = Kokkos::create_mirror_view(o);
  auto const lse_host = Kokkos::create_mirror_view(lse);
  Kokkos::deep_copy(o_host, o);
  Kokkos::deep_copy(lse_host, lse);
  double const score = 0.5 * 0.25 * head_dim / std::sqrt(static_cast<double>(head_dim));
  int wrong = 0;
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int i = 0; i < seq; ++i) {
        if (!(std::abs(lse_host(b, h, i) - (score + std::log(i + 1.0))) < 1e-5)) ++wrong;
        for (int c = 0; c < value_dim; ++c) {
          double mean = 0;
          for (int j = 0; j <= i; ++j) mean += value_at(b, h / (heads / kv_heads), j, c) / (i + 1.0);
          if (!(std::abs(o_host(b, h, i, c) - mean) < 2e-5 * 33)) ++wrong;
        }
      }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  int wrong = 0;
  {
    Exec const exec;
    for (auto const kernel :
         {flashpad::Kernel::naive, flashpad::Kernel::fused, flashpad::Kernel::automatic}) {
      wrong += count_wrong(exec, kernel);
    }
  }
  Kokkos::finalize();
  std::printf("Flashpad %s: %d wrong numbers\n", FLASHPAD_VERSION, wrong);
  return wrong == 0 ? 0 : 1;
}
