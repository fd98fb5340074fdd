// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host engine for bf16 on processors with AMX: tdpbf16ps multiplies 16 x 32 by 32 x 16 bf16 in 16 cycles,
// sixteen times the multiply-adds of AVX-512 in float32. With query rows along the lanes, Q and P are
// operands B as the other engine for pairs has them, K is operand A where it lies, and the scores come out as
// the softmax takes them; V alone is transposed, once for all rows of a query tile. The instruction takes
// denormals for zero and flushes its results. Includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/amx_products.hpp"
#include "kernels/engines/bf16_pairs.hpp"
#include "kernels/engines/host_tables.hpp"

namespace flashpad::engines {

namespace {

constexpr int most_dim = 256;

/// [keys / 32][dim][32 keys]: element c of 32 keys is a row of operand A. Zeros stand for keys that are not
/// there.
void load_values(void const* storage, std::int64_t stride, int n, int dim, void* out) {
  auto* to = static_cast<char*>(out);
  for (int j = 0; j < n; j += group, to += dim * tile_bytes) {
    for (int c = 0; c < dim; c += 16) {
      auto const here = static_cast<__mmask16>(dim - c >= 16 ? 0xffffu : 0x00ffu);
      FloatVector square[16];
      FLASHPAD_EACH(16) {
        int const key = j + 2 * i;
        bfloat16 const* const even = row_of<bfloat16>(storage, stride, key) + c;
        bfloat16 const* const odd = row_of<bfloat16>(storage, stride, key + 1) + c;
        __m512i const low = _mm512_cvtepu16_epi32(
            _mm256_maskz_loadu_epi16(key < n ? here : static_cast<__mmask16>(0), key < n ? even : nullptr));
        __m512i const high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(
            key + 1 < n ? here : static_cast<__mmask16>(0), key + 1 < n ? odd : nullptr));
        square[i] = (FloatVector)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
      }
      transpose(square);
      int const count = dim - c >= 16 ? 16 : 8;
      for (int i = 0; i < count; ++i) store(reinterpret_cast<float*>(to + (c + i) * tile_bytes), square[i]);
    }
  }
}

void scores(void const* query, void const* keys, std::int64_t stride, int n, int dim, float* s,
            float* tile_max) {
  auto const* const q = static_cast<char const*>(query);
  auto const* const k = static_cast<char const*>(keys);
  begin_scores(dim);
  RowMaximum most(s);
  int j = 0;
  for (; j + 2 * tile_rows <= n; j += 2 * tile_rows) {
    score_keys<TermPairs<1>, true>(q, k + j * stride, stride, dim, reinterpret_cast<char*>(s + j * rows));
    most.look(j);
  }
  if (j + tile_rows <= n) {
    score_keys<TermPairs<1>, false>(q, k + j * stride, stride, dim, reinterpret_cast<char*>(s + j * rows));
    j += tile_rows;
  }
  if (j < n) {
    alignas(64) char own[tile_rows * most_dim * 2];
    int const bytes = dim * 2;
    for (int y = 0; y < tile_rows; ++y) {
      if (j + y < n)
        __builtin_memcpy(own + y * bytes, k + (j + y) * stride, static_cast<unsigned long>(bytes));
      else
        __builtin_memset(own + y * bytes, 0, static_cast<unsigned long>(bytes));
    }
    score_keys<TermPairs<1>, false>(q, own, bytes, dim, reinterpret_cast<char*>(s + j * rows));
  }
  most.store_of(n, tile_max);
}

/// P of one term, where RoundP leaves it.
struct RoundedWeights {
  using Pairs = TermPairs<1>;
  static constexpr std::int64_t stride(int) { return row_bytes; }
  static constexpr std::int64_t offset(int, int g, int) { return g * (group / 2) * row_bytes; }
};

/// ExpOfScores for weights that are rounded to bf16, in 8 instructions that these processors have on both
/// ports: within 3e-6, by a polynomial for 2^f on [0, 1) that is 1 at 0.
class ExpOfRounded {
 public:
  FLASHPAD_INLINE ExpOfRounded(FloatVector const (&reference)[vectors], float scale)
      : m_factor(_mm512_set1_ps(scale * 1.44269504f)) {
    FLASHPAD_EACH(vectors) m_reference[i] = (__m512)reference[i];
  }
  template <int count>
  FLASHPAD_INLINE void operator()(FloatVector (&p)[count]) const {
    __m512 power[count], f[count], result[count];
    // The difference first: scores may be so large that the rounding of a product would be more than it.
    FLASHPAD_EACH(count) power[i] = _mm512_sub_ps((__m512)p[i], m_reference[i % vectors]);
    FLASHPAD_EACH(count) power[i] = _mm512_mul_ps(power[i], m_factor);
    FLASHPAD_EACH(count) f[i] = _mm512_reduce_ps(power[i], _MM_FROUND_TO_NEG_INF);
    FLASHPAD_EACH(count)
    result[i] = _mm512_fmadd_ps(f[i], _mm512_set1_ps(0.0134266838f), _mm512_set1_ps(0.0522424728f));
    FLASHPAD_EACH(count) result[i] = _mm512_fmadd_ps(result[i], f[i], _mm512_set1_ps(0.241280198f));
    FLASHPAD_EACH(count) result[i] = _mm512_fmadd_ps(result[i], f[i], _mm512_set1_ps(0.693044841f));
    FLASHPAD_EACH(count) result[i] = _mm512_fmadd_ps(result[i], f[i], _mm512_set1_ps(1.0f));
    FLASHPAD_EACH(count) p[i] = (FloatVector)_mm512_scalef_ps(result[i], power[i]);
  }

 private:
  __m512 m_factor;
  __m512 m_reference[vectors];
};

/// P as the other engine for pairs has it, and zeros to a whole group.
FLASHPAD_INLINE void fill_group(float* s, int n) {
  for (int pair = (n + 1) / 2; pair < (n + group - 1) / group * (group / 2); ++pair)
    FLASHPAD_EACH(vectors) store(s + pair * rows + i * 16, splat<float>(0));
}

Rescale softmax_of_groups(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                          float* alpha) {
  Rescale const rescale = softmax<float, RoundP, ExpOfRounded>(s, n, scale, tile_max, max, sum, alpha);
  fill_group(s, n);
  return rescale;
}

Rescale softmax_and_product(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                            float* alpha, HostProduct<float> const& of) {
  Rescale const rescale =
      softmax_beside<RoundedWeights, ExpOfRounded>(of, s, n, scale, tile_max, max, sum, alpha, RoundP{});
  fill_group(s, n);
  return rescale;
}

/// A block's last step: empty registers need not be saved when the system changes threads.
void store_and_release(float const* acc, float const* sum, int n, int dim, void* storage,
                       std::int64_t stride) {
  _tile_release();
  store_output(acc, sum, n, dim, storage, stride);
}

}  // namespace

HostTables amx_bf16_tables() {
  HostTables tables;
  HostTable<float>& table = tables.bf16;
  table.engine = "amx-bf16";
  table.lanes = rows;
  table.group = group;
  table.slack = most_slack;
  table.asks_ahead = tiles_ask_ahead;
  table.operand_bytes = 2;
  table.storage_bytes = 2;
  table.keys_are_operands = true;
  table.load_queries = load_queries;
  table.load_values = load_values;
  table.scores = scores;
  table.mask = mask<float>;
  table.softmax = softmax_of_groups;
  table.softmax_meanwhile = softmax_and_product;
  table.softmax_row = softmax_row<float>;
  table.accumulate = accumulate<RoundedWeights>;
  table.store_output = store_and_release;
  return tables;
}

}  // namespace flashpad::engines
