// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host engine for bf16 on processors with AVX-512 BF16: vdpbf16ps multiplies pairs of bf16 and adds both
// products to a float, twice the multiply-adds of float32. It takes denormals for zero and flushes its
// results. Includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/bf16_pairs.hpp"
#include "kernels/engines/host_tables.hpp"
#include "kernels/engines/portable_sums.hpp"

namespace flashpad::engines {

namespace {

constexpr int at_once = 8;  // keys, or elements of V, times two vectors of rows: sums in registers

FLASHPAD_INLINE FloatVector add_products(FloatVector sum, Pairs a, Pairs b) {
  return (FloatVector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}

FLASHPAD_INLINE Pairs broadcast_pair(char const* from) {
  int pair;
  __builtin_memcpy(&pair, from, sizeof(pair));
  return _mm512_set1_epi32(pair);
}

void load_keys(void const* storage, std::int64_t stride, int n, int dim, void* out) {
  for (int j = 0; j < n; ++j) {
    __builtin_memcpy(static_cast<bfloat16*>(out) + j * dim, row_of<bfloat16>(storage, stride, j),
                     static_cast<unsigned long>(dim) * sizeof(bfloat16));
  }
}

/// Rows 2 j and 2 j + 1 side by side, element by element; zeros stand for a row that is not there.
void load_values(void const* storage, std::int64_t stride, int n, int dim, void* out) {
  auto* to = static_cast<std::uint32_t*>(out);
  for (int j = 0; j < n; j += 2, to += dim) {
    bfloat16 const* const even = row_of<bfloat16>(storage, stride, j);
    bfloat16 const* const odd = j + 1 < n ? row_of<bfloat16>(storage, stride, j + 1) : nullptr;
    for (int c = 0; c < dim; c += 16) {
      auto const here = static_cast<__mmask16>(dim - c >= 16 ? 0xffffu : (1u << (dim - c)) - 1u);
      __m512i const low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(here, even + c));
      __m512i const high = odd != nullptr ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(here, odd + c))
                                          : _mm512_setzero_si512();
      _mm512_mask_storeu_epi32(to + c, here, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}

/// Scores of `keys` keys; 4 pairs of each are multiplied a turn, so that the loop's end is foreseen.
template <int keys>
FLASHPAD_INLINE void score_keys(char const* q, char const* k, std::int64_t stride, int pairs, float* s,
                                FloatVector (&most)[vectors]) {
  FloatVector sum[keys][vectors] = {};
  for (int from = 0; from < pairs; from += 4) {
#pragma GCC unroll 4
    for (int c = from; c < from + 4; ++c) {
      Pairs query[vectors];
      FLASHPAD_EACH(vectors) query[i] = _mm512_load_si512(q + (c * vectors + i) * 64);
#pragma GCC unroll 16
      for (int y = 0; y < keys; ++y) {
        Pairs const pair = broadcast_pair(k + y * stride + c * 4);
        FLASHPAD_EACH(vectors) sum[y][i] = add_products(sum[y][i], query[i], pair);
      }
    }
  }
#pragma GCC unroll 16
  for (int y = 0; y < keys; ++y) {
    FLASHPAD_EACH(vectors) store(s + y * rows + i * 16, sum[y][i]);
    FLASHPAD_EACH(vectors) most[i] = maximum<float>(most[i], sum[y][i]);
  }
}

void scores(void const* query, void const* keys, std::int64_t stride, int n, int dim, float* s,
            float* tile_max) {
  auto const* const q = static_cast<char const*>(query);
  auto const* const k = static_cast<char const*>(keys);
  int const pairs = dim / 2;
  FloatVector most[vectors];
  FLASHPAD_EACH(vectors) most[i] = splat<float>(-infinity<float>);
  int j = 0;
  for (; j + at_once <= n; j += at_once)
    score_keys<at_once>(q, k + j * stride, stride, pairs, s + j * rows, most);
  for (; j + 4 <= n; j += 4) score_keys<4>(q, k + j * stride, stride, pairs, s + j * rows, most);
  for (; j < n; ++j) score_keys<1>(q, k + j * stride, stride, pairs, s + j * rows, most);
  FLASHPAD_EACH(vectors) store(tile_max + i * 16, most[i]);
}

void accumulate(void const* probabilities, void const* values, std::int64_t stride, int n, int dim,
                Rescale rescale, float const* alpha, float* acc) {
  auto const* const p = static_cast<char const*>(probabilities);
  int const pairs = (n + 1) / 2;
  for (int c = 0; c < dim; c += at_once) {
    char const* const v = static_cast<char const*>(values) + c * 4;
    float* const at = acc + c * rows;
    FloatVector sum[at_once][vectors] = {};
    for (int j = 0; j < pairs; ++j) {
      Pairs weight[vectors];
      FLASHPAD_EACH(vectors) weight[i] = _mm512_load_si512(p + (j * vectors + i) * 64);
#pragma GCC unroll 16
      for (int y = 0; y < at_once; ++y) {
        Pairs const pair = broadcast_pair(v + j * stride + y * 4);
        FLASHPAD_EACH(vectors) sum[y][i] = add_products(sum[y][i], weight[i], pair);
      }
    }
    add_to_outputs<at_once, float>(sum, rescale, alpha, at);
  }
}

}  // namespace

HostTables avx512_bf16_tables() {
  HostTables tables;
  HostTable<float>& table = tables.bf16;
  table.engine = "avx512-bf16";
  table.lanes = rows;
  table.group = 2;
  table.operand_bytes = 2;
  table.storage_bytes = 2;
  table.keys_are_operands = true;
  table.load_queries = load_queries;
  table.load_keys = load_keys;
  table.load_values = load_values;
  table.scores = scores;
  table.mask = mask<float>;
  table.softmax = softmax<float, RoundP>;
  table.softmax_row = softmax_row<float>;
  table.accumulate = accumulate;
  table.store_output = store_output;
  return tables;
}

}  // namespace flashpad::engines
