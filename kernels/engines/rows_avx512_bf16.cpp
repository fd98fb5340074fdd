// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few query rows in bfloat16 by vdpbf16ps: products of pairs of bfloat16, summed in float32, from K and V as
// they lie in memory. P is rounded to bfloat16 just before its product. The instruction takes denormal inputs
// as zero and flushes denormal sums.
#include "kernels/engines/rows_pairs.hpp"
#include "kernels/engines/rows_scores.hpp"

namespace flashpad::engines {
namespace {

constexpr int level_most_rows = 8;

/// Two elements of the dimension in a lane.
struct PairUnit {
  static constexpr std::int64_t bytes = 4;

  template <int lane_rows>
  FLASHPAD_INLINE static FloatVector load(char const* key, int c) {
    return broadcast_part<float, lane_rows>(key + c * bytes);
  }
  template <int lane_rows>
  FLASHPAD_INLINE static FloatVector load_some(char const* key, int c, int count) {
    if constexpr (lane_rows == 1) {
      return (FloatVector)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1),
                                                   key + c * bytes);
    } else {
      __m256i const part =
          _mm256_maskz_loadu_epi32(static_cast<__mmask8>((1u << count) - 1), key + c * bytes);
      return (FloatVector)_mm512_broadcast_i64x4(part);
    }
  }
  FLASHPAD_INLINE static FloatVector add(FloatVector sum, FloatVector a, FloatVector b) {
    return (FloatVector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
  }
};

template <int rows>
void load_query(void const* row, int dim, int r, float* q) {
  auto const* from = static_cast<bfloat16 const*>(row);
  auto* to = reinterpret_cast<bfloat16*>(q);
  for (int c = 0; c < (dim + wide - 1) / wide * wide; ++c) {
    int const pair = query_at<float, rows>(c / 2, r);
    to[2 * pair + c % 2] = from != nullptr && c < dim ? from[c] : bfloat16{0};
  }
}

template <int rows>
void scores(float const* q, void const* k, std::int64_t stride, int n, int dim, float scale, float* s,
            RowsAhead next) {
  constexpr int keys = ScoreShape<float, rows>::keys;
  RowsCursor ahead(next);
  KeyBlock<keys> block(k, stride, n);
  do {
    char const* key[keys];
    block.addresses(key);
    score_block<PairUnit, float, rows>(q, key, dim / 2, scale, s, ahead);
    s += keys * rows;
  } while (block.next());
}

/// p [keys][rows] to bfloat16, in place, as [keys / 2][rows] pairs: the two keys of a row side by side. What
/// is behind the last key is 0.
template <int rows>
FLASHPAD_INLINE void pair_keys(float* p, int n) {
  alignas(32) short from[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    int const pair = i / 2;
    from[i] = static_cast<short>((pair / rows * 2 + i % 2) * rows + pair % rows);
  }
  __m256i const order = _mm256_load_si256(reinterpret_cast<__m256i const*>(from));
  for (int i = 0; i < n * rows; i += 16) {
    auto const narrow = (__m256i)_mm512_cvtneps_pbh(_mm512_load_ps(p + i));
    _mm256_store_si256(reinterpret_cast<__m256i*>(p + i / 2), _mm256_permutexvar_epi16(order, narrow));
  }
}

/// `columns` times 32 elements of acc; the last may have only `count` in V.
template <int rows, int columns>
FLASHPAD_INLINE void accumulate_columns(std::uint32_t const* p, bfloat16 const* v, std::int64_t stride, int n,
                                        int count, int acc_row, float const* alpha, float* acc,
                                        RowsCursor& ahead) {
  __m512 sum[rows][2 * columns];  // the keys' apart from acc's, as in portable_sums.hpp
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
    for (int x = 0; x < 2 * columns; ++x) sum[r][x] = _mm512_setzero_ps();
  }
  auto const add = [&](int j, bool both, bool some) __attribute__((always_inline)) {
    bfloat16 const* const even = row_of<bfloat16>(v, stride, j);
    bfloat16 const* const odd = row_of<bfloat16>(v, stride, both ? j + 1 : j);
#pragma GCC unroll 8
    for (int x = 0; x < columns; ++x) {
      // A key that does not exist is no key: 0 times what may be infinite would be NaN.
      __m512bh const first = some ? load_some(even + x * wide, count) : load_wide(even + x * wide);
      __m512bh const none = (__m512bh)_mm512_setzero_si512();
      __m512bh const second = !both  ? none
                              : some ? load_some(odd + x * wide, count)
                                     : load_wide(odd + x * wide);
      Pairs const value = pairs_of(first, second);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        auto const weight = (__m512bh)_mm512_set1_epi32(static_cast<int>(p[j / 2 * rows + r]));
        sum[r][2 * x] = _mm512_dpbf16_ps(sum[r][2 * x], value.low, weight);
        sum[r][2 * x + 1] = _mm512_dpbf16_ps(sum[r][2 * x + 1], value.high, weight);
      }
    }
  };
  bool const some = count < wide;
  int const even = n / 2 * 2;
  for (int j = 0; j < even; j += 2) {
    ahead.template advance<2 * columns * wide* static_cast<int>(sizeof(bfloat16))>();
    if (some)
      add(j, true, true);
    else
      add(j, true, false);
  }
  if (even < n) add(even, false, some);
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    __m512 const before = _mm512_set1_ps(alpha != nullptr ? alpha[r] : 1);
#pragma GCC unroll 16
    for (int x = 0; x < 2 * columns; ++x) {
      float* const at = acc + r * acc_row + x * width<float>;
      _mm512_store_ps(at, _mm512_fmadd_ps(_mm512_load_ps(at), before, sum[r][x]));
    }
  }
}

template <int rows>
void accumulate(float* p, void const* v, std::int64_t stride, int n, int dim, float const* alpha, float* acc,
                RowsAhead next) {
  constexpr int columns = rows == 8 ? 1 : rows == 4 ? 2 : 4;
  int const acc_row = (dim + wide - 1) / wide * wide;
  auto const* const values = static_cast<bfloat16 const*>(v);
  pair_keys<rows>(p, n);
  auto const* const pairs = reinterpret_cast<std::uint32_t const*>(p);
  RowsCursor ahead(next);
  int c = 0;
  for (; c + columns * wide <= dim; c += columns * wide) {
    accumulate_columns<rows, columns>(pairs, values + c, stride, n, wide, acc_row, alpha, acc + c, ahead);
  }
  for (; c < dim; c += wide) {
    int const count = dim - c < wide ? dim - c : wide;
    accumulate_columns<rows, 1>(pairs, values + c, stride, n, count, acc_row, alpha, acc + c, ahead);
  }
}

template <int size>
void fill(RowsTable<float>& table) {
  constexpr int rows = 1 << size;
  table.load_query[size] = load_query<rows>;
  table.scores[size] = scores<rows>;
  table.softmax[size] = softmax<float, rows>;
  table.accumulate[size] = accumulate<rows>;
  if constexpr (2 * rows <= level_most_rows) fill<size + 1>(table);
}

}  // namespace

RowsTables rows_tables_avx512_bf16() {
  RowsTables tables;
  RowsTable<float>& table = tables.bf16;
  table.engine = "rows-avx512-bf16";
  table.most_rows = level_most_rows;
  table.key_unit = sums;
  table.dim_unit = wide;
  table.store_output = store_output<bfloat16>;
  table.store_partial = store_output<float>;
  fill<0>(table);
  return tables;
}

}  // namespace flashpad::engines
