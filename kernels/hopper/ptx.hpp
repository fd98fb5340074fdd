// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda.h>
#include <cstdint>

// The instructions of sm_90a that CUDA C++ has no function for, one each. Section names are those of NVIDIA's
// "Parallel Thread Execution ISA", 8.0 and later.

namespace flashpad::hopper {

inline __device__ std::uint32_t shared_address(void const* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// --- mbarrier: "Parallel Synchronization and Communication Instructions: mbarrier" ------------------------

__device__ inline void barrier_init(std::uint64_t* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals));
}

/// Makes initialised barriers visible to the copy engine.
__device__ inline void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives, and lets the phase wait for `bytes` more of copied data.
__device__ inline void barrier_expect(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ inline void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Whether the phase of that parity is complete. Asked for early, the answer costs no latency.
__device__ inline bool barrier_test(std::uint64_t* barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n"
      "}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

/// Waits until the phase of that parity is complete.
__device__ inline void barrier_wait(std::uint64_t* barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again_%=:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again_%=;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// --- The copy engine: "Data Movement and Conversion Instructions: cp.async.bulk.tensor" --------------------

__device__ inline void prefetch_map(CUtensorMap const* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Copies the box at (c, n, h, b) to shared memory; what lies outside the tensor arrives as zeros.
__device__ inline void copy_in(void* to, CUtensorMap const* map, std::uint64_t* barrier, int c, int n, int h,
                               int b) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
      "%6}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c), "r"(n), "r"(h), "r"(b)
      : "memory");
}

/// The same of a tensor of rank 5.
__device__ inline void copy_in(void* to, CUtensorMap const* map, std::uint64_t* barrier, int c, int i, int n,
                               int h, int b) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
      "%6, %7}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c), "r"(i), "r"(n), "r"(h), "r"(b)
      : "memory");
}

/// Copies a box from shared memory; what lies outside the tensor is not written.
__device__ inline void copy_out(CUtensorMap const* map, void const* from, int c, int n, int h, int b) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
      "r"(shared_address(from)), "r"(c), "r"(n), "r"(h), "r"(b)
      : "memory");
}

__device__ inline void copy_out_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Waits until the shared memory of all committed copies may be written again.
__device__ inline void copy_out_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ inline void copy_out_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

/// Orders this thread's ordinary writes to shared memory before what the copy engine or the tensor cores
/// read.
__device__ inline void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- Dependent launches: "Parallel Synchronization and Communication Instructions: griddepcontrol" ---------

/// The next launch, if it was asked to, may begin once every block has said so.
__device__ inline void let_next_launch_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// Waits until the launch before this one has ended, and what it stored can be read.
__device__ inline void wait_for_last_launch() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// --- Warps and registers ----------------------------------------------------------------------------------

template <int Registers>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Named barriers ("bar"): sync waits for `threads` arrivals, its own among them; arrive does not wait.
__device__ inline void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Stores four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void store_matrices(std::uint32_t address, std::uint32_t const (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

/// 2^x, with denormal results flushed; 2 units in the last place.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// 1 / x and log2(x), to about 2^-22.
__device__ inline float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float log2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace flashpad::hopper
