// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host engine for float32 and fp16 on processors with AMX: a float32 is the sum of three bf16 and an fp16
// that of two, exactly, and tdpbf16ps multiplies bf16 exactly, sixteen times as fast as AVX-512 multiplies
// float32. Six of its products give one of float32: those of terms whose weights together are 2^-16 or more,
// which leaves an error like float32's own. All four give one of fp16, and three where P, which is rounded to
// 16 bits, meets V. An infinity has no such sum, nor has a float32 below 2^-103 (the instruction takes
// denormal terms for zero): another engine multiplies from there on. Query rows lie along the lanes, as in
// the engine for bf16. Includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/amx_products.hpp"
#include "kernels/engines/bf16_terms.hpp"
#include "kernels/engines/host_tables.hpp"
#include "kernels/engines/portable_softmax.hpp"

namespace flashpad::engines {

namespace {

/// An element's terms, and how many products its scores and its share of O take.
struct Float32Terms {
  static constexpr int terms = 3;
  using Scores = TermPairs<6>;
  using Outputs = TermPairs<6>;
};
struct Fp16Terms {
  static constexpr int terms = 2;
  using Scores = TermPairs<4>;
  using Outputs = TermPairs<3>;
};

template <class Pairs>
void scores(void const* query, void const* keys, std::int64_t stride, int n, int dim, float* s,
            float* tile_max) {
  auto const* const q = static_cast<char const*>(query);
  auto const* const k = static_cast<char const*>(keys);
  begin_scores(dim);
  RowMaximum most(s);
  // Rows of k behind key n are whatever lies there, in rows of s that nobody reads.
  for (int j = 0; j < n; j += 2 * tile_rows) {
    char* const at = reinterpret_cast<char*>(s + j * block_rows);
    if (n - j > tile_rows)
      score_keys<Pairs, true>(q, k + j * stride, stride, dim, at);
    else
      score_keys<Pairs, false>(q, k + j * stride, stride, dim, at);
    most.look(j);
  }
  most.store_of(n, tile_max);
}

/// P as operands B: a row of pairs of keys for each term. The first two lie in the place of the two keys'
/// scores, the third behind the scores of all n keys.
template <int terms>
struct SplitP {
  int n;

  FLASHPAD_INLINE void put(float* s, int j, int vector, __m512 even, __m512 odd) const {
    int const at = j * block_rows + vector * 16;
    int const third = (whole_groups(n) + j / 2) * block_rows + vector * 16;
    for (int number = 0; number < terms; ++number) {
      _mm512_store_si512(s + (number == 2 ? third : at + number * block_rows), pair_upper(even, odd));
      if (number + 1 == terms) break;
      take_term(even);
      take_term(odd);
    }
  }
  FLASHPAD_INLINE void pair(float* s, int j, FloatVector const (&p)[2 * vectors]) const {
    FLASHPAD_EACH(vectors) put(s, j, i, (__m512)p[i], (__m512)p[vectors + i]);
  }
  FLASHPAD_INLINE void last(float* s, int j, FloatVector const (&p)[vectors]) const {
    FLASHPAD_EACH(vectors) put(s, j, i, (__m512)p[i], _mm512_setzero_ps());
  }
  /// Zeros to a whole group.
  FLASHPAD_INLINE void fill(float* s) const {
    for (int j = (n + 1) / 2 * 2; j < whole_groups(n); j += 2)
      FLASHPAD_EACH(vectors) put(s, j, i, _mm512_setzero_ps(), _mm512_setzero_ps());
  }
};

/// Where SplitP leaves them.
template <class Of>
struct SplitWeights {
  using Pairs = Of;
  static constexpr std::int64_t stride(int term) { return term == 2 ? row_bytes : 2 * row_bytes; }
  static constexpr std::int64_t offset(int groups, int g, int term) {
    return term == 2 ? (groups * group + g * (group / 2)) * row_bytes : (g * group + term) * row_bytes;
  }
};

template <int terms>
Rescale softmax_of_groups(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                          float* alpha) {
  SplitP<terms> const keep{n};
  Rescale const rescale =
      softmax_meanwhile<float, ExpOfScores<float>>(s, n, scale, tile_max, max, sum, alpha, keep, [](int) {});
  keep.fill(s);
  return rescale;
}

template <class Of>
Rescale softmax_and_product(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                            float* alpha, HostProduct<float> const& of) {
  SplitP<Of::terms> const keep{n};
  Rescale const rescale = softmax_beside<SplitWeights<typename Of::Outputs>, ExpOfScores<float>>(
      of, s, n, scale, tile_max, max, sum, alpha, keep);
  keep.fill(s);
  return rescale;
}

/// A block's last step: empty registers need not be saved when the system changes threads.
template <class Storage>
void store_and_release(float const* acc, float const* sum, int n, int dim, void* storage,
                       std::int64_t stride) {
  _tile_release();
  store_output<Storage, float>(acc, sum, n, dim, storage, stride);
}

template <class Storage, class Of>
HostTable<float> make_table() {
  constexpr int terms = Of::terms;
  HostTable<float> table;
  table.engine = "amx-bf16x3";
  table.lanes = block_rows;
  // Measured on one core with 2048 keys, over portable-v4: float32 0.8 at 32 rows, 0.93 to 0.99 at 64, 1.04
  // to 1.21 at 128; fp16, which that converts as well, 1.25 to 1.3 at 17 and 32.
  table.least_rows = terms > 2 ? 128 : 1;
  table.group = group;
  table.slack = most_slack;
  table.asks_ahead = tiles_ask_ahead;
  table.operand_bytes = 2 * terms;
  table.score_bytes = terms > 2 ? 6 : 4;
  table.storage_bytes = sizeof(Storage);
  table.takes = have_terms<Storage>;
  table.load_queries = load_queries<Storage, terms>;
  table.load_keys = load_keys<Storage, terms>;
  table.load_values = load_values<Storage, terms>;
  table.scores = scores<typename Of::Scores>;
  table.mask = mask<float>;
  table.softmax = softmax_of_groups<terms>;
  table.softmax_meanwhile = softmax_and_product<Of>;
  table.softmax_row = softmax_row<float>;
  table.accumulate = accumulate<SplitWeights<typename Of::Outputs>>;
  table.store_output = store_and_release<Storage>;
  return table;
}

}  // namespace

HostTables amx_bf16x3_tables() {
  HostTables tables;
  tables.fp32 = make_table<float, Float32Terms>();
  tables.fp16 = make_table<half, Fp16Terms>();
  return tables;
}

}  // namespace flashpad::engines
