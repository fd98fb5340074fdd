// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/simt_engine.hpp"
#include "kernels/fused/merge.hpp"
#include "kernels/fused/team_kernel.hpp"
#include "kernels/naive/naive_rows.hpp"
#include "kernels/naive/naive_softmax.hpp"

// All portable code that runs on a device, compiled as C++17 for the default execution space: compilers for
// devices, and the Kokkos that were built with them, lag behind the host's C++20. Nothing here is run.

namespace flashpad::test {

using Exec = Kokkos::DefaultExecutionSpace;

template <class Storage, class T>
void launch(Exec const& exec, FusedProblem const& problem, int size) {
  using Engine = engines::SimtEngine<Exec, Storage, T>;
  using Fused = FusedKernel<Exec, Engine, kokkos_ext::TeamSchedule<Exec>>;
  Kokkos::parallel_for("fused", typename Fused::Policy(exec, size, 1), Fused{problem, {0}});
  launch_merge<Exec, Storage, T>(exec, problem);
  for_rows(exec, "widen", size, size, WidenRows<Storage, T>{});
  for_rows(exec, "narrow", size, size, NarrowRows<Storage, T>{});
  for_rows(exec, "clear", size, size, ClearRows<Storage, T>{});
  using Softmax = NaiveSoftmax<Exec, Storage, T>;
  Kokkos::parallel_for("softmax", typename Softmax::Policy(exec, size, 1), Softmax{});
}

template void launch<double, double>(Exec const&, FusedProblem const&, int);
template void launch<float, float>(Exec const&, FusedProblem const&, int);
template void launch<half, float>(Exec const&, FusedProblem const&, int);
template void launch<bfloat16, float>(Exec const&, FusedProblem const&, int);

}  // namespace flashpad::test
