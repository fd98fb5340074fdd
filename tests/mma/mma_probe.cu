// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fused kernel with the mma engine as it is, on a team of plain CUDA that looks to the compiler as
// Kokkos' does: what nvcc alone can compile of it. The build looks for spills and for the tensor cores'
// instructions (check_probe.cmake); it is not run.

#include "kernels/engines/mma_tilings.hpp"
#include "kernels/fused/fused_kernel.hpp"

namespace {

using namespace flashpad;

/// What Kokkos' CUDA backend passes beside the functor, as far as it shapes the code around it.
struct Launch {
  int scratch_begin;
  int league_size;
  long second_level;
  int* locks;
};

struct Scratch {
  int begin = 0;

  FLASHPAD_FUNCTION void* get_shmem_aligned(std::ptrdiff_t, [[maybe_unused]] std::ptrdiff_t alignment) const {
#ifdef __CUDA_ARCH__
    extern __shared__ __align__(16) char memory[];
    auto const first = reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(begin);
    auto const unit = static_cast<std::uintptr_t>(alignment);
    return reinterpret_cast<void*>((first + unit - 1) / unit * unit);
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
#ifdef __CUDA_ARCH__
    return static_cast<int>(threadIdx.y);
#else
    return 0;
#endif
  }
  FLASHPAD_FUNCTION Scratch const& team_scratch(int) const { return scratch; }
  FLASHPAD_FUNCTION void team_barrier() const {
#ifdef __CUDA_ARCH__
    if (blockDim.z == 1) {
      __syncthreads();
    } else {
      __threadfence_block();
    }
#endif
  }
};

template <class Products, int Dim>
using Engine =
    engines::MmaEngine<Products,
                       engines::MmaTilings<static_cast<int>(sizeof(typename Products::Storage)), Dim>, Team>;

/// As Kokkos calls a team's functor: one lane may take a lock for scratch memory of level 1, and there is a
/// loop over league ranks, which the functor ends (kokkos_ext::end_of_team).
template <class E>
__global__ __launch_bounds__(E::max_threads,
                             E::min_teams) void probe(__grid_constant__ FusedProblem const problem,
                                                      __grid_constant__ typename E::Config const config,
                                                      __grid_constant__ Launch const launch) {
  if (launch.second_level > 0) {
    if (threadIdx.x == 0 && threadIdx.y == 0) {
      while (atomicCAS(launch.locks + blockIdx.x % launch.second_level, 0, 1) != 0) {
      }
    }
    __syncthreads();
  }
  for (int rank = static_cast<int>(blockIdx.x); rank < launch.league_size;
       rank += static_cast<int>(gridDim.x)) {
    FusedLoop<E>::run(Team{rank, {launch.scratch_begin}}, problem, config);
    if (gridDim.x < static_cast<unsigned>(launch.league_size)) __trap();
    asm volatile("exit;");
    __builtin_unreachable();
  }
}

template <class Products, int Dim>
void compile() {
  using E = Engine<Products, Dim>;
  probe<E><<<1, dim3(32, E::max_threads / 32), E::scratch_bytes>>>({}, {}, {});
}

template <class Products, int... Dims>
void compile_all() {
  (compile<Products, Dims>(), ...);
}

}  // namespace

void compile_the_engine() {
  compile_all<engines::Products16<half>, 32, 64, 96, 128, 192, 256>();
  compile_all<engines::Products16<bfloat16>, 64, 128>();
  compile_all<engines::ProductsTf32<true>, 32, 64, 96, 128>();
  compile_all<engines::ProductsTf32<false>, 64, 128>();
}
