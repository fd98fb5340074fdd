// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

// What the mfma engine asks of a wavefront of 64 lanes on AMD's CDNA GPUs (gfx908, gfx90a, gfx942), in one
// struct so that a test can put an emulated wavefront in its place. Layouts as AMD documents them
// (instruction set guides of CDNA 1, 2 and 3, "Matrix Arithmetic Instructions";
// ROCm/amd_matrix_instruction_calculator).
//
// With h = lane / 32 and n = lane % 32, a lane holds, of D (32 x 32) += A (32 x K) B (K x 32),
//   32x32x8 (fp16; bf16 on gfx90a and gfx942): A[n][4 h + e] and B[4 h + e][n], e from 0 to 3
//   32x32x4 (bf16 on gfx908):                  A[n][2 h + e] and B[2 h + e][n], e from 0 to 1
//   D and C:                                   D[8 (e / 4) + 4 h + e % 4][n], e from 0 to 15

#if defined(__HIP_DEVICE_COMPILE__) && (defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || \
                                        defined(__gfx941__) || defined(__gfx942__))
#define FLASHPAD_MFMA
#endif
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx908__)
#define FLASHPAD_MFMA_BF16_1K 1
#else
#define FLASHPAD_MFMA_BF16_1K 0
#endif

#if defined(__HIP_DEVICE_COMPILE__) && !__has_builtin(__builtin_amdgcn_exp2f)
extern "C" __device__ float __ocml_native_exp2_f32(float);
#endif

namespace flashpad::engines {

/// The wavefront of this device. Outside of device code its functions do nothing.
struct GcnWave {
  static constexpr int lanes = 64;
  /// Whether bf16 products take 4 elements a lane, as fp16 products do, and not 2.
  static constexpr bool bf16_1k = FLASHPAD_MFMA_BF16_1K != 0;

#ifdef __HIP_DEVICE_COMPILE__
  using Acc = float __attribute__((ext_vector_type(16)));
#else
  struct Acc {
    float e[16];
    FLASHPAD_FUNCTION float& operator[](int i) { return e[i]; }
    FLASHPAD_FUNCTION float operator[](int i) const { return e[i]; }
  };
#endif

  FLASHPAD_FUNCTION static int lane() {
#ifdef __HIP_DEVICE_COMPILE__
    return static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)));
#else
    return 0;
#endif
  }

  /// A number that is the same in all lanes, told to the compiler.
  FLASHPAD_FUNCTION static int uniform(int value) { return first_lane(value); }
  /// The first lane's.
  FLASHPAD_FUNCTION static int first_lane(int value) {
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_readfirstlane(value);
#else
    return value;
#endif
  }

  /// The same number, of which the compiler cannot know that it has seen it before: what follows from it is
  /// made again where it is wanted, and takes no vector registers across a loop.
  FLASHPAD_FUNCTION static int again(int value) {
#ifdef __HIP_DEVICE_COMPILE__
    asm volatile("" : "+v"(value));
#endif
    return value;
  }

  /// The same object, of which the compiler cannot know that it has been read before: a kernel's arguments
  /// are read again where they are wanted, and take no scalar registers until then.
  template <class T>
  FLASHPAD_FUNCTION static T const& read_again(T const& object) {
#ifdef __HIP_DEVICE_COMPILE__
    int zero;
    asm volatile("s_mov_b32 %0, 0" : "=s"(zero));
    return (&object)[zero];
#else
    return object;
#endif
  }

  FLASHPAD_FUNCTION static bool any(bool value) {
#if !defined(__HIP_DEVICE_COMPILE__)
    return value;
#elif __has_builtin(__builtin_amdgcn_ballot_w64)
    return __builtin_amdgcn_ballot_w64(value) != 0;
#else
    constexpr int not_equal = 33;
    return __builtin_amdgcn_uicmp(static_cast<unsigned>(value), 0u, not_equal) != 0;
#endif
  }

  /// The value of lane ^ 32.
  FLASHPAD_FUNCTION static float from_other_half(float value) {
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_bit_cast(
        float, __builtin_amdgcn_ds_bpermute((lane() ^ 32) * 4, __builtin_bit_cast(int, value)));
#else
    return value;
#endif
  }

  // --- Products: D += A B; elements in the order of e, two to a word ------------------------------------

  FLASHPAD_FUNCTION static void mfma_fp16([[maybe_unused]] Acc& d,
                                          [[maybe_unused]] std::uint32_t const (&a)[2],
                                          [[maybe_unused]] std::uint32_t const (&b)[2]) {
#ifdef FLASHPAD_MFMA
    using Half4 = _Float16 __attribute__((ext_vector_type(4)));
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(Half4, a), __builtin_bit_cast(Half4, b), d, 0,
                                             0, 0);
#endif
  }

  FLASHPAD_FUNCTION static void mfma_bf16_1k([[maybe_unused]] Acc& d,
                                             [[maybe_unused]] std::uint32_t const (&a)[2],
                                             [[maybe_unused]] std::uint32_t const (&b)[2]) {
#if defined(FLASHPAD_MFMA) && !defined(__gfx908__)
    using Short4 = short __attribute__((ext_vector_type(4)));
    d = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(Short4, a), __builtin_bit_cast(Short4, b),
                                                 d, 0, 0, 0);
#endif
  }

  FLASHPAD_FUNCTION static void mfma_bf16([[maybe_unused]] Acc& d, [[maybe_unused]] std::uint32_t a,
                                          [[maybe_unused]] std::uint32_t b) {
#if defined(FLASHPAD_MFMA) && defined(__gfx908__)
    using Short2 = short __attribute__((ext_vector_type(2)));
    d = __builtin_amdgcn_mfma_f32_32x32x4bf16(__builtin_bit_cast(Short2, a), __builtin_bit_cast(Short2, b), d,
                                              0, 0, 0);
#endif
  }

  // --- Memory: the local data share by its own 32-bit addresses, and global memory -----------------------

  FLASHPAD_FUNCTION static std::uint32_t shared_address([[maybe_unused]] void const* pointer) {
#ifdef __HIP_DEVICE_COMPILE__
    return reinterpret_cast<std::uint32_t>(
        (__attribute__((address_space(3))) char*)(const_cast<void*>(pointer)));
#else
    return 0;
#endif
  }

  template <int Words>
  FLASHPAD_FUNCTION static void load_shared([[maybe_unused]] std::uint32_t (&words)[Words],
                                            [[maybe_unused]] std::uint32_t at) {
#ifdef __HIP_DEVICE_COMPILE__
    using Vector = std::uint32_t __attribute__((ext_vector_type(Words)));
    Vector const v = *reinterpret_cast<__attribute__((address_space(3))) Vector*>(at);
    FLASHPAD_UNROLL
    for (int i = 0; i < Words; ++i) words[i] = v[i];
#endif
  }

  template <int Words>
  FLASHPAD_FUNCTION static void store_shared([[maybe_unused]] std::uint32_t at,
                                             [[maybe_unused]] std::uint32_t const (&words)[Words]) {
#ifdef __HIP_DEVICE_COMPILE__
    using Vector = std::uint32_t __attribute__((ext_vector_type(Words)));
    Vector v;
    FLASHPAD_UNROLL
    for (int i = 0; i < Words; ++i) v[i] = words[i];
    *reinterpret_cast<__attribute__((address_space(3))) Vector*>(at) = v;
#endif
  }

  /// At a multiple of the size; `base` is the same in all lanes.
  template <int Words>
  FLASHPAD_FUNCTION static void load_global([[maybe_unused]] std::uint32_t (&words)[Words],
                                            [[maybe_unused]] char const* base,
                                            [[maybe_unused]] std::uint32_t offset) {
#ifdef __HIP_DEVICE_COMPILE__
    using Vector = std::uint32_t __attribute__((ext_vector_type(Words)));
    auto const* const global = (__attribute__((address_space(1))) char const*)(base);
    Vector const v = *(__attribute__((address_space(1))) Vector const*)(global + offset);
    FLASHPAD_UNROLL
    for (int i = 0; i < Words; ++i) words[i] = v[i];
#endif
  }

  /// 16 bits, at a multiple of 2.
  FLASHPAD_FUNCTION static std::uint32_t load_global_element([[maybe_unused]] char const* from) {
#ifdef __HIP_DEVICE_COMPILE__
    return *(__attribute__((address_space(1))) std::uint16_t const*)(from);
#else
    return 0;
#endif
  }
  FLASHPAD_FUNCTION static void store_global_element([[maybe_unused]] char* to,
                                                     [[maybe_unused]] std::uint32_t element) {
#ifdef __HIP_DEVICE_COMPILE__
    *(__attribute__((address_space(1))) std::uint16_t*)(to) = static_cast<std::uint16_t>(element);
#endif
  }

  template <int Words>
  FLASHPAD_FUNCTION static void store_global([[maybe_unused]] char* to,
                                             [[maybe_unused]] std::uint32_t const (&words)[Words]) {
#ifdef __HIP_DEVICE_COMPILE__
    using Vector = std::uint32_t __attribute__((ext_vector_type(Words)));
    Vector v;
    FLASHPAD_UNROLL
    for (int i = 0; i < Words; ++i) v[i] = words[i];
    *(__attribute__((address_space(1))) Vector*)(to) = v;
#endif
  }

  // --- Arithmetic ------------------------------------------------------------------------------------

  /// 2^x within 1 unit in the last place; denormal results are flushed to zero.
  FLASHPAD_FUNCTION static float exp2(float x) {
#if !defined(__HIP_DEVICE_COMPILE__)
    return std::exp2(x);
#elif __has_builtin(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else
    return __ocml_native_exp2_f32(x);
#endif
  }

  /// Two floats to a pair of fp16, `low` in the lower half; to nearest even.
  FLASHPAD_FUNCTION static std::uint32_t pack_fp16([[maybe_unused]] float low, [[maybe_unused]] float high) {
#ifdef __HIP_DEVICE_COMPILE__
    using Half2 = _Float16 __attribute__((ext_vector_type(2)));
    Half2 const pair = {static_cast<_Float16>(low), static_cast<_Float16>(high)};
    return __builtin_bit_cast(std::uint32_t, pair);
#else
    return 0;
#endif
  }
};

}  // namespace flashpad::engines
