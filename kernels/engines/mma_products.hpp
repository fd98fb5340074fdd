// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/mma_ptx.hpp"
#include "kokkos_ext/half.hpp"

#include <cmath>
#include <type_traits>

// What a warp's matrix instructions multiply: one struct for each way. All of them read rows in units of 16
// bytes, so one engine serves every type. Each offers
//
//   Storage           the element type in memory; `step` of them, 32 bytes, are one instruction's inner
//   dimension A, B              operands, ready to multiply; operand(...) prepares them from what ldmatrix
//   loads multiply(c, a, b) probabilities     A for `step` keys of accumulators; probability_pair says which
//   accumulators they are pack              two neighbours of O to its type, as words

namespace flashpad::engines {

namespace detail {

FLASHPAD_PTX_FUNCTION std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}
FLASHPAD_PTX_FUNCTION float float_of(std::uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

template <int Words>
struct Fragment {
  std::uint32_t r[Words];
};

}  // namespace detail

/// fp16 or bf16 inputs, float32 sums. P is rounded to the inputs' type before the second product.
template <class T>
struct Products16 {
  using Storage = T;
  using A = detail::Fragment<4>;
  using B = detail::Fragment<2>;
  static constexpr int step = 16;
  static constexpr bool fp16 = sizeof(T) == 2 && std::is_same_v<T, half>;

  FLASHPAD_PTX_FUNCTION static A operand(A const& raw) { return raw; }
  FLASHPAD_PTX_FUNCTION static B operand(std::uint32_t b0, std::uint32_t b1) { return {{b0, b1}}; }

  FLASHPAD_PTX_FUNCTION static void multiply(float (&c)[4], A const& a, B const& b) {
    if constexpr (fp16) {
      ptx::mma_fp16(c, a.r, b.r);
    } else {
      ptx::mma_bf16(c, a.r, b.r);
    }
  }

  FLASHPAD_PTX_FUNCTION static std::uint32_t pack(float low, float high) {
    if constexpr (fp16) {
      return ptx::pack_fp16(low, high);
    } else {
      return ptx::pack_bf16(low, high);
    }
  }

  /// A pair of elements times 1, -1 or 0: exact, and 0 times NaN or infinity is NaN.
  FLASHPAD_PTX_FUNCTION static std::uint32_t scaled(std::uint32_t pair, float factor) {
    T const low{static_cast<std::uint16_t>(pair)};
    T const high{static_cast<std::uint16_t>(pair >> 16)};
    return pack(to_float(low) * factor, to_float(high) * factor);
  }

  FLASHPAD_PTX_FUNCTION static void store_pair(std::uint32_t to, float low, float high) {
    ptx::store_shared(to, pack(low, high));
  }

  /// 16 bytes of elements that have their natural alignment alone.
  FLASHPAD_PTX_FUNCTION static void load_words(std::uint32_t (&words)[4], char const* from) {
    auto const* e = reinterpret_cast<std::uint16_t const*>(from);
    FLASHPAD_UNROLL
    for (int i = 0; i < 4; ++i) words[i] = e[2 * i] | static_cast<std::uint32_t>(e[2 * i + 1]) << 16;
  }
  FLASHPAD_PTX_FUNCTION static void store_words(char* to, std::uint32_t const (&words)[4]) {
    auto* e = reinterpret_cast<std::uint16_t*>(to);
    FLASHPAD_UNROLL
    for (int i = 0; i < 4; ++i) {
      e[2 * i] = static_cast<std::uint16_t>(words[i]);
      e[2 * i + 1] = static_cast<std::uint16_t>(words[i] >> 16);
    }
  }

  /// Keys [16 i, 16 i + 16) of the scores: C's layout of two tiles of 8 keys is A's layout of 16.
  template <int Tiles>
  FLASHPAD_PTX_FUNCTION static A probabilities(float const (&p)[Tiles][4], int i) {
    float const(&left)[4] = p[2 * i];
    float const(&right)[4] = p[2 * i + 1];
    return {
        {pack(left[0], left[1]), pack(left[2], left[3]), pack(right[0], right[1]), pack(right[2], right[3])}};
  }

  /// Where a lane reads V's rows [0, 16) from, and B for 16 keys and two groups of 8 columns, at `from`.
  FLASHPAD_PTX_FUNCTION static std::uint32_t value_offset(int lane, int pitch) {
    return static_cast<std::uint32_t>((lane & 15) * pitch + (lane >> 4) * 16);
  }
  FLASHPAD_PTX_FUNCTION static void values(B (&b)[2], std::uint32_t from, int) {
    std::uint32_t r[4];
    ptx::load_matrices_transposed(r, from);
    b[0] = {{r[0], r[1]}};
    b[1] = {{r[2], r[3]}};
  }
};

/// float32 inputs through tf32, whose significand has 11 bits. Split: each number is the sum of two tf32
/// numbers, and of the four products all but the smallest are added, so that 22 of 24 bits take part (the
/// error is that of float32 arithmetic to within a small factor). Not split: tf32 by name, 11 bits.
template <bool Split>
struct ProductsTf32 {
  using Storage = float;
  static constexpr int step = 8;
  struct A {
    std::uint32_t r[4];
    std::uint32_t low[4];
  };
  struct B {
    std::uint32_t r[2];
    std::uint32_t low[2];
  };

  /// Split: the upper bits, and what remains of the number, of which the instruction in turn takes the upper
  /// bits. Infinity has no rest, and NaN stays.
  FLASHPAD_PTX_FUNCTION static void split(std::uint32_t value, std::uint32_t& high, std::uint32_t& low) {
    if constexpr (Split) {
      high = value & 0xffffe000u;
      float const rest = detail::float_of(value) - detail::float_of(high);
      low = detail::bits_of(fabsf(detail::float_of(value)) == HUGE_VALF ? 0.0f : rest);
    } else {
      high = ptx::round_tf32(value);
      low = 0;
    }
  }

  FLASHPAD_PTX_FUNCTION static A operand(detail::Fragment<4> const& raw) {
    A a;
    FLASHPAD_UNROLL
    for (int i = 0; i < 4; ++i) split(ptx::not_ahead(raw.r[i]), a.r[i], a.low[i]);
    return a;
  }
  FLASHPAD_PTX_FUNCTION static B operand(std::uint32_t b0, std::uint32_t b1) {
    B b;
    split(b0, b.r[0], b.low[0]);
    split(b1, b.r[1], b.low[1]);
    return b;
  }

  FLASHPAD_PTX_FUNCTION static void multiply(float (&c)[4], A const& a, B const& b) {
    if constexpr (Split) {  // the small ones first
      ptx::mma_tf32(c, a.low, b.r);
      ptx::mma_tf32(c, a.r, b.low);
    }
    ptx::mma_tf32(c, a.r, b.r);
  }

  FLASHPAD_PTX_FUNCTION static std::uint32_t scaled(std::uint32_t value, float factor) {
    return detail::bits_of(detail::float_of(value) * factor);
  }
  FLASHPAD_PTX_FUNCTION static void store_pair(std::uint32_t to, float low, float high) {
    ptx::store_shared(to, detail::bits_of(low));
    ptx::store_shared(to + 4, detail::bits_of(high));
  }
  FLASHPAD_PTX_FUNCTION static void load_words(std::uint32_t (&words)[4], char const* from) {
    auto const* e = reinterpret_cast<std::uint32_t const*>(from);
    FLASHPAD_UNROLL
    for (int i = 0; i < 4; ++i) words[i] = e[i];
  }
  FLASHPAD_PTX_FUNCTION static void store_words(char* to, std::uint32_t const (&words)[4]) {
    auto* e = reinterpret_cast<std::uint32_t*>(to);
    FLASHPAD_UNROLL
    for (int i = 0; i < 4; ++i) e[i] = words[i];
  }

  /// Keys [8 i, 8 i + 8): A's columns t and t + 4 take keys 2t and 2t + 1, which is C's layout; V's rows are
  /// read in the same order.
  template <int Tiles>
  FLASHPAD_PTX_FUNCTION static A probabilities(float const (&p)[Tiles][4], int i) {
    float const(&c)[4] = p[i];
    return operand(
        {{detail::bits_of(c[0]), detail::bits_of(c[2]), detail::bits_of(c[1]), detail::bits_of(c[3])}});
  }

  FLASHPAD_PTX_FUNCTION static std::uint32_t value_offset(int lane, int pitch) {
    return static_cast<std::uint32_t>(2 * (lane & 3) * pitch + (lane >> 2) * 4);
  }
  FLASHPAD_PTX_FUNCTION static void values(B (&b)[2], std::uint32_t from, int pitch) {
    auto const row = static_cast<std::uint32_t>(pitch);
    FLASHPAD_UNROLL
    for (int i = 0; i < 2; ++i) {
      b[i] = operand(ptx::load_shared(from + 32u * static_cast<std::uint32_t>(i)),
                     ptx::load_shared(from + row + 32u * static_cast<std::uint32_t>(i)));
    }
  }
};

}  // namespace flashpad::engines
