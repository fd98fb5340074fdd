// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/types.hpp>

#include <cstdint>

// The warp-level matrix instructions of NVIDIA GPUs (compute capability 8.0 and newer) and what feeds them,
// one function each, free of Kokkos. Section names are those of NVIDIA's "Parallel Thread Execution ISA".
//
// Functions are for host and device, because the loop that calls them is; on the host, and on an older GPU,
// none is ever called (the planner refuses), and the bodies are empty.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define FLASHPAD_PTX(...) asm(__VA_ARGS__)
#define FLASHPAD_PTX_VOLATILE(...) asm volatile(__VA_ARGS__)
#else
#define FLASHPAD_PTX(...)
#define FLASHPAD_PTX_VOLATILE(...)
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define FLASHPAD_PTX_FUNCTION __host__ __device__ __forceinline__
#else
#define FLASHPAD_PTX_FUNCTION inline
#endif

namespace flashpad::engines::ptx {

/// Address in the shared window, which the instructions below want.
FLASHPAD_PTX_FUNCTION std::uint32_t shared_address([[maybe_unused]] void const* pointer) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
#else
  return 0;
#endif
}

/// The pointer to such an address.
FLASHPAD_PTX_FUNCTION void* shared_pointer([[maybe_unused]] std::uint32_t address) {
#if defined(__CUDA_ARCH__)
  return __cvta_shared_to_generic(address);
#else
  return nullptr;
#endif
}

FLASHPAD_PTX_FUNCTION int lane() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(threadIdx.x) & 31;
#else
  return 0;
#endif
}

/// The lane again, by an instruction that the compiler does not move: what follows from it is computed where
/// it is needed, and takes no registers in between.
FLASHPAD_PTX_FUNCTION int lane_again() {
  int lane = 0;
  FLASHPAD_PTX_VOLATILE("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/// The value, of which the compiler may not assume that it is the same as before: keeps it from computing
/// ahead of a loop, and holding in registers, what is cheap inside.
FLASHPAD_PTX_FUNCTION std::uint32_t not_ahead(std::uint32_t value) {
  FLASHPAD_PTX_VOLATILE("" : "+r"(value));
  return value;
}

FLASHPAD_PTX_FUNCTION void sync_warp() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

/// The barrier of a team that is a block. Kokkos' own asks first whether it is, each time, and the answer
/// takes a register.
FLASHPAD_PTX_FUNCTION void sync_team() {
#if defined(__CUDA_ARCH__)
  __syncthreads();
#endif
}

/// `value`, which is the same in all lanes, in a form that lets the compiler know it: what follows from it
/// goes to the uniform registers, of which a warp has 63 beside each lane's 255.
FLASHPAD_PTX_FUNCTION std::uint32_t uniform(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return __shfl_sync(0xffffffffu, value, 0);
#else
  return value;
#endif
}

/// Whether some lane of the warp says so.
FLASHPAD_PTX_FUNCTION bool any_lane(bool mine) {
#if defined(__CUDA_ARCH__)
  return __any_sync(0xffffffffu, mine) != 0;
#else
  return mine;
#endif
}

/// The value of the lane whose number differs in `bits`.
FLASHPAD_PTX_FUNCTION float from_lane_xor(float value, [[maybe_unused]] int bits) {
#if defined(__CUDA_ARCH__)
  return __shfl_xor_sync(0xffffffffu, value, bits);
#else
  return value;
#endif
}

// --- "Data Movement and Conversion Instructions: cp.async" ------------------------------------------------

/// Copies 16 bytes from global to shared memory, past the first-level cache; with bytes = 0 it writes zeros
/// and reads nothing. Both addresses are multiples of 16.
FLASHPAD_PTX_FUNCTION void copy_async([[maybe_unused]] std::uint32_t to, [[maybe_unused]] void const* from,
                                      [[maybe_unused]] int bytes) {
  FLASHPAD_PTX_VOLATILE(
      "{\n"
      ".reg .u64 from;\n"
      "cvta.to.global.u64 from, %1;\n"
      "cp.async.cg.shared.global [%0], [from], 16, %2;\n"
      "}\n" ::"r"(to),
      "l"(from), "r"(bytes)
      : "memory");
}

FLASHPAD_PTX_FUNCTION void copy_async_commit() {
  FLASHPAD_PTX_VOLATILE("cp.async.commit_group;" ::: "memory");
}

/// Waits until all but the newest `Pending` groups of this thread's copies are complete.
template <int Pending>
FLASHPAD_PTX_FUNCTION void copy_async_wait() {
  FLASHPAD_PTX_VOLATILE("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// --- Shared memory ----------------------------------------------------------------------------------------

FLASHPAD_PTX_FUNCTION void store_shared([[maybe_unused]] std::uint32_t to, [[maybe_unused]] std::uint32_t a) {
  FLASHPAD_PTX_VOLATILE("st.shared.b32 [%0], %1;" ::"r"(to), "r"(a) : "memory");
}

FLASHPAD_PTX_FUNCTION void store_shared([[maybe_unused]] std::uint32_t to,
                                        [[maybe_unused]] std::uint32_t const (&a)[4]) {
  FLASHPAD_PTX_VOLATILE("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a[0]), "r"(a[1]), "r"(a[2]),
                        "r"(a[3])
                        : "memory");
}

FLASHPAD_PTX_FUNCTION std::uint32_t load_shared([[maybe_unused]] std::uint32_t from) {
  std::uint32_t value = 0;
  FLASHPAD_PTX_VOLATILE("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(from));
  return value;
}

FLASHPAD_PTX_FUNCTION void load_shared([[maybe_unused]] std::uint32_t (&r)[4],
                                       [[maybe_unused]] std::uint32_t from) {
  FLASHPAD_PTX_VOLATILE("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                        : "r"(from));
}

/// 16 bytes to global memory, at a multiple of 16.
FLASHPAD_PTX_FUNCTION void store_global([[maybe_unused]] void* to,
                                        [[maybe_unused]] std::uint32_t const (&a)[4]) {
  FLASHPAD_PTX_VOLATILE("st.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a[0]), "r"(a[1]), "r"(a[2]),
                        "r"(a[3])
                        : "memory");
}

// --- "Warp Level Matrix Instructions: ldmatrix" -----------------------------------------------------------

/// Loads four matrices of 8 rows of 16 bytes. Lane l gives the address of row l % 8 of matrix l / 8, and
/// gets, of each matrix, the 4 bytes at 4 (l % 4) of row l / 4.
FLASHPAD_PTX_FUNCTION void load_matrices([[maybe_unused]] std::uint32_t (&r)[4],
                                         [[maybe_unused]] std::uint32_t address) {
  FLASHPAD_PTX_VOLATILE("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                        : "r"(address));
}

/// The same of matrices of 8x8 16-bit elements, transposed: lane l gets the elements of rows 2 (l % 4) and
/// 2 (l % 4) + 1 in column l / 4.
FLASHPAD_PTX_FUNCTION void load_matrices_transposed([[maybe_unused]] std::uint32_t (&r)[4],
                                                    [[maybe_unused]] std::uint32_t address) {
  FLASHPAD_PTX_VOLATILE("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                        : "r"(address));
}

// --- "Warp Level Matrix Multiply-Accumulate Instructions: mma" --------------------------------------------
//
// With g = lane / 4 and t = lane % 4, a lane holds
//   C (16 x 8):                 c0, c1 at row g, columns 2t, 2t + 1; c2, c3 at row g + 8
//   m16n8k16 (fp16, bf16) A:    a0 at row g, columns 2t, 2t + 1; a1 at row g + 8; a2, a3 the same, columns +
//   8
//                         B:    b0 at rows 2t, 2t + 1 of column g; b1 at rows + 8
//   m16n8k8 (tf32)        A:    a0 at row g, column t; a1 at row g + 8; a2, a3 the same, column + 4
//                         B:    b0 at row t of column g; b1 at row t + 4

#define FLASHPAD_MMA(shape, type)                                                     \
  FLASHPAD_PTX("mma.sync.aligned." shape ".row.col.f32." type "." type                \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

FLASHPAD_PTX_FUNCTION void mma_fp16([[maybe_unused]] float (&c)[4],
                                    [[maybe_unused]] std::uint32_t const (&a)[4],
                                    [[maybe_unused]] std::uint32_t const (&b)[2]) {
  FLASHPAD_MMA("m16n8k16", "f16");
}
FLASHPAD_PTX_FUNCTION void mma_bf16([[maybe_unused]] float (&c)[4],
                                    [[maybe_unused]] std::uint32_t const (&a)[4],
                                    [[maybe_unused]] std::uint32_t const (&b)[2]) {
  FLASHPAD_MMA("m16n8k16", "bf16");
}
FLASHPAD_PTX_FUNCTION void mma_tf32([[maybe_unused]] float (&c)[4],
                                    [[maybe_unused]] std::uint32_t const (&a)[4],
                                    [[maybe_unused]] std::uint32_t const (&b)[2]) {
  FLASHPAD_MMA("m16n8k8", "tf32");
}
#undef FLASHPAD_MMA

// --- "Data Movement and Conversion Instructions: cvt"; "Floating Point Instructions: ex2" -----------------

/// Two floats to a pair of 16-bit numbers, `low` in the lower half; to nearest even.
FLASHPAD_PTX_FUNCTION std::uint32_t pack_fp16([[maybe_unused]] float low, [[maybe_unused]] float high) {
  std::uint32_t pair = 0;
  FLASHPAD_PTX("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
FLASHPAD_PTX_FUNCTION std::uint32_t pack_bf16([[maybe_unused]] float low, [[maybe_unused]] float high) {
  std::uint32_t pair = 0;
  FLASHPAD_PTX("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// float32 to tf32: to nearest, half away from zero; infinity and NaN stay.
FLASHPAD_PTX_FUNCTION std::uint32_t round_tf32(std::uint32_t value) {
  FLASHPAD_PTX("cvt.rna.tf32.f32 %0, %0;" : "+r"(value));
  return value;
}

/// The product, rounded towards minus infinity, and never as part of a multiply-add.
FLASHPAD_PTX_FUNCTION float product_down(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rd(a, b);
#else
  return a * b;
#endif
}

/// 2^x within 2 units in the last place; denormal results are flushed to zero.
FLASHPAD_PTX_FUNCTION float exp2_approx([[maybe_unused]] float x) {
  float y = 0;
  FLASHPAD_PTX("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace flashpad::engines::ptx
