// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fused kernel with the mfma engine as it is, on a team of plain HIP that looks to the compiler as
// Kokkos' does: what hipcc alone compiles to assembly. The build reads registers, spills and instructions
// from it (check_mfma_probe.cmake); it is not run. FLASHPAD_PROBE_DIM and FLASHPAD_PROBE_KEYS make one more
// tile, to see that the check fails on one that does not fit.

#include <hip/hip_runtime.h>

#include "kernels/engines/mfma_tilings.hpp"
#include "kernels/fused/fused_kernel.hpp"

namespace {

using namespace flashpad;

struct Scratch {
  FLASHPAD_FUNCTION void* get_shmem_aligned(std::ptrdiff_t, std::ptrdiff_t) const {
#ifdef __HIP_DEVICE_COMPILE__
    extern __shared__ __align__(16) char memory[];
    return memory;
#else
    return nullptr;
#endif
  }
};

struct Team {
  int rank = 0;
  Scratch scratch;

  FLASHPAD_FUNCTION int league_rank() const { return rank; }
  FLASHPAD_FUNCTION int team_rank() const {
#ifdef __HIP_DEVICE_COMPILE__
    return static_cast<int>(threadIdx.y);
#else
    return 0;
#endif
  }
  FLASHPAD_FUNCTION Scratch const& team_scratch(int) const { return scratch; }
  FLASHPAD_FUNCTION void team_barrier() const {
#ifdef __HIP_DEVICE_COMPILE__
    __syncthreads();
#endif
  }
};

template <class T, class Tiling>
using Engine = engines::MfmaEngine<engines::GcnWave, T, Tiling, Team>;

#ifdef __gfx908__
template <int Dim>
using Tilings = engines::MfmaTilings<Dim, true>;
#else
template <int Dim>
using Tilings = engines::MfmaTilings<Dim, false>;
#endif

/// As Kokkos calls a team's functor: in a loop over league ranks, which the functor ends
/// (kokkos_ext::end_of_team).
template <class E>
__global__ __launch_bounds__(E::max_threads, E::min_teams) void probe(FusedProblem const problem,
                                                                      typename E::Config const config,
                                                                      int const league_size) {
  for (int rank = static_cast<int>(blockIdx.x); rank < league_size; rank += static_cast<int>(gridDim.x)) {
    FusedLoop<E>::run(Team{rank, {}}, problem, config);
#ifdef __HIP_DEVICE_COMPILE__
    asm volatile("s_endpgm");
    __builtin_unreachable();
#endif
  }
}

template <class T, class Tiling>
void compile() {
  using E = Engine<T, Tiling>;
  probe<E><<<1, dim3(64, Tiling::waves), E::scratch_bytes>>>({}, {}, 1);
}

}  // namespace

void compile_the_engine() {
#ifdef FLASHPAD_PROBE_DIM
  compile<half,
          engines::MfmaTiling<FLASHPAD_PROBE_DIM, 4, FLASHPAD_PROBE_KEYS, FLASHPAD_PROBE_TEAMS, true>>();
#else
  compile<half, Tilings<32>>();
  compile<half, Tilings<64>>();
  compile<half, Tilings<96>>();
  compile<half, Tilings<128>>();
  compile<half, Tilings<192>>();
  compile<half, Tilings<256>>();
  compile<bfloat16, Tilings<32>>();
  compile<bfloat16, Tilings<64>>();
  compile<bfloat16, Tilings<96>>();
  compile<bfloat16, Tilings<128>>();
  compile<bfloat16, Tilings<192>>();
  compile<bfloat16, Tilings<256>>();
#endif
}
