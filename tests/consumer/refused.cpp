// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that must not compile, one at a time.
#include <flashpad/attention.hpp>

#include <Kokkos_Core.hpp>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Tensor = Kokkos::View<float****, Kokkos::LayoutRight, Exec>;

#if defined(REFUSE_wrong_memory_space)
/// A memory that nothing but itself reaches, as a GPU's is for the host.
struct FarAwaySpace {
  using memory_space = FarAwaySpace;
  using execution_space = Exec;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
};
using Refused = Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::Device<Exec, FarAwaySpace>,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using Output = Tensor;
#elif defined(REFUSE_wrong_rank)
using Refused = Kokkos::View<float***, Kokkos::LayoutRight, Exec>;
using Output = Tensor;
#elif defined(REFUSE_wrong_type)
using Refused = Kokkos::View<int****, Kokkos::LayoutRight, Exec>;
using Output = Tensor;
#elif defined(REFUSE_const_output)
using Refused = Tensor;
using Output = Kokkos::View<float const****, Kokkos::LayoutRight, Exec>;
#endif

}  // namespace

void refused(flashpad::Plan<Exec> const& plan, Tensor const& q, Refused const& k, Tensor const& v,
             Output const& o) {
  plan(Exec(), q, k, v, o);
}

int main() { return 0; }
