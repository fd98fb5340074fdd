// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Warpgroup matrix products ("Asynchronous Warpgroup Level Matrix Instructions: wgmma.mma_async"): D (64 x N,
// float32, registers) += A (64 x 16) B (16 x N), B in shared memory, A there or in registers.
//
// Layout of D: thread t of the warpgroup, with w = t / 32 and l = t % 32, holds for each block j of 8 columns
//     d[4 j + 0, 1]: row 16 w + l / 4,     columns 8 j + 2 (l % 4) + 0, 1
//     d[4 j + 2, 3]: row 16 w + l / 4 + 8, the same columns
// and A in registers is laid out as two such blocks of 8 columns, packed in pairs.

namespace flashpad::hopper {

__device__ inline void products_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most Pending groups of products are under way.
template <int Pending>
__device__ inline void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// Keeps the compiler from moving reads or writes of an accumulator across this point.
template <int N>
__device__ inline void pin(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

/// Descriptor of a matrix in shared memory with the 128-byte swizzle ("Matrix Descriptor Format"): rows of
/// 128 bytes, eight to a group of 1024. `leading` is the distance in bytes between blocks of 64 columns; it
/// has no meaning for an operand whose rows run along the sum.
inline __device__ std::uint64_t matrix_descriptor(std::uint32_t address, std::uint32_t leading) {
  constexpr std::uint64_t swizzle_128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t group = std::uint64_t{1024 >> 4} << 32;
  return swizzle_128 | group | (std::uint64_t{(leading >> 4) & 0x3fff} << 16) | ((address >> 4) & 0x3fff);
}

// The operand lists of the instructions: accumulators come first, as %0 to %(N / 2 - 1), in runs of eight.
#define FLASHPAD_D0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define FLASHPAD_D1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define FLASHPAD_D2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define FLASHPAD_D3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define FLASHPAD_D4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define FLASHPAD_D5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define FLASHPAD_D6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define FLASHPAD_D7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define FLASHPAD_D8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define FLASHPAD_D9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define FLASHPAD_D10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define FLASHPAD_D11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define FLASHPAD_D12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define FLASHPAD_D13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define FLASHPAD_D14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define FLASHPAD_D15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define FLASHPAD_D_64 FLASHPAD_D0 ", " FLASHPAD_D1 ", " FLASHPAD_D2 ", " FLASHPAD_D3
#define FLASHPAD_D_80 FLASHPAD_D_64 ", " FLASHPAD_D4
#define FLASHPAD_D_96 FLASHPAD_D_80 ", " FLASHPAD_D5
#define FLASHPAD_D_112 FLASHPAD_D_96 ", " FLASHPAD_D6
#define FLASHPAD_D_128 FLASHPAD_D_112 ", " FLASHPAD_D7
#define FLASHPAD_D_160 FLASHPAD_D_128 ", " FLASHPAD_D8 ", " FLASHPAD_D9
#define FLASHPAD_D_176 FLASHPAD_D_160 ", " FLASHPAD_D10
#define FLASHPAD_D_192 FLASHPAD_D_176 ", " FLASHPAD_D11
#define FLASHPAD_D_256 FLASHPAD_D_192 ", " FLASHPAD_D12 ", " FLASHPAD_D13 ", " FLASHPAD_D14 ", " FLASHPAD_D15
#define FLASHPAD_R8(i)                                                                        \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define FLASHPAD_R_64 FLASHPAD_R8(0), FLASHPAD_R8(8), FLASHPAD_R8(16), FLASHPAD_R8(24)
#define FLASHPAD_R_80 FLASHPAD_R_64, FLASHPAD_R8(32)
#define FLASHPAD_R_96 FLASHPAD_R_80, FLASHPAD_R8(40)
#define FLASHPAD_R_112 FLASHPAD_R_96, FLASHPAD_R8(48)
#define FLASHPAD_R_128 FLASHPAD_R_112, FLASHPAD_R8(56)
#define FLASHPAD_R_160 FLASHPAD_R_128, FLASHPAD_R8(64), FLASHPAD_R8(72)
#define FLASHPAD_R_176 FLASHPAD_R_160, FLASHPAD_R8(80)
#define FLASHPAD_R_192 FLASHPAD_R_176, FLASHPAD_R8(88)
#define FLASHPAD_R_256 FLASHPAD_R_192, FLASHPAD_R8(96), FLASHPAD_R8(104), FLASHPAD_R8(112), FLASHPAD_R8(120)

/// Products of one element type and width. `rows` multiplies A and B that both run along the sum in shared
/// memory (Q K^T); `columns` takes A from registers and a B whose rows are the sum's (P V). keep = 0
/// overwrites D.
template <class T, int N>
struct Product;

#define FLASHPAD_PRODUCT(T, PTX, N, n0, n1, n2, n3, n4, n5)                                                \
  template <>                                                                                              \
  struct Product<T, N> {                                                                                   \
    __device__ static void rows(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, int keep) {           \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #n2 ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N   \
                   "k16.f32." PTX "." PTX " {" FLASHPAD_D_##N "}, %" #n0 ", %" #n1 ", p, 1, 1, 0, 0;\n}\n" \
                   : FLASHPAD_R_##N                                                                        \
                   : "l"(a), "l"(b), "r"(keep));                                                           \
    }                                                                                                      \
    __device__ static void columns(float (&d)[N / 2], std::uint32_t const (&a)[4], std::uint64_t b,        \
                                   int keep) {                                                             \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #n5 ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N   \
                   "k16.f32." PTX "." PTX " {" FLASHPAD_D_##N "}, {%" #n0 ", %" #n1 ", %" #n2 ", %" #n3    \
                                                              "}, %" #n4 ", p, 1, 1, 1;\n}\n"              \
                   : FLASHPAD_R_##N                                                                        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));                       \
    }                                                                                                      \
  };

FLASHPAD_PRODUCT(__half, "f16", 64, 32, 33, 34, 35, 36, 37)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 64, 32, 33, 34, 35, 36, 37)
FLASHPAD_PRODUCT(__half, "f16", 80, 40, 41, 42, 43, 44, 45)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 80, 40, 41, 42, 43, 44, 45)
FLASHPAD_PRODUCT(__half, "f16", 96, 48, 49, 50, 51, 52, 53)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 96, 48, 49, 50, 51, 52, 53)
FLASHPAD_PRODUCT(__half, "f16", 128, 64, 65, 66, 67, 68, 69)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 128, 64, 65, 66, 67, 68, 69)
FLASHPAD_PRODUCT(__half, "f16", 160, 80, 81, 82, 83, 84, 85)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 160, 80, 81, 82, 83, 84, 85)
FLASHPAD_PRODUCT(__half, "f16", 176, 88, 89, 90, 91, 92, 93)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 176, 88, 89, 90, 91, 92, 93)
FLASHPAD_PRODUCT(__half, "f16", 192, 96, 97, 98, 99, 100, 101)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 192, 96, 97, 98, 99, 100, 101)
FLASHPAD_PRODUCT(__half, "f16", 256, 128, 129, 130, 131, 132, 133)
FLASHPAD_PRODUCT(__nv_bfloat16, "bf16", 256, 128, 129, 130, 131, 132, 133)

}  // namespace flashpad::hopper
