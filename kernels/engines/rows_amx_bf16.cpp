// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few query rows in bfloat16 on processors with AMX. K where it lies is operand A of the scores, 16 keys at a
// time; V is operand B of the second product, two keys' elements side by side. A product takes as long for
// eight rows as for one: memory sets the pace of both. The instruction takes denormal inputs as zero and
// flushes denormal sums.
#include "kernels/engines/amx_tiles.hpp"
#include "kernels/engines/rows_pairs.hpp"
#include "kernels/engines/rows_table.hpp"

namespace flashpad::engines {
namespace {

constexpr int level_most_rows = 8;
constexpr int most_dim = 256;

/// Registers 0 and 1 are scores, 2 is an operand of 16 whole rows, 3 the queries, 4 is P, 5 and 6 are sums of
/// O. With `rest` elements behind the last 32 of a key 5 and 6 are the key's and the queries' rest instead.
template <int rows>
FLASHPAD_INLINE TileShapes shapes_of(int rest) {
  TileShapes shapes;
  shape(shapes, 0, tile_rows, rows * 4);
  shape(shapes, 1, tile_rows, rows * 4);
  shape(shapes, 2, tile_rows, tile_bytes);
  shape(shapes, 3, tile_rows, rows * 4);
  shape(shapes, 4, rows, tile_bytes);
  if (rest == 0) {
    shape(shapes, 5, rows, tile_bytes);
    shape(shapes, 6, rows, tile_bytes);
  } else {
    shape(shapes, 5, tile_rows, rest * 2);
    shape(shapes, 6, rest / 2, rows * 4);
  }
  return shapes;
}

/// [pairs][rows][2], zeros behind the last element.
template <int rows>
void load_query(void const* row, int dim, int r, float* q) {
  auto const* from = static_cast<bfloat16 const*>(row);
  auto* to = reinterpret_cast<bfloat16*>(q);
  for (int c = 0; c < (dim + wide - 1) / wide * wide; ++c)
    to[(c / 2 * rows + r) * 2 + c % 2] = from != nullptr && c < dim ? from[c] : bfloat16{0};
}

/// Scores of 16 keys in register `tile`.
#define FLASHPAD_SCORE_KEYS(tile, k, stride)            \
  do {                                                  \
    _tile_zero(tile);                                   \
    int c = 0;                                          \
    for (; c + wide <= dim; c += wide) {                \
      ahead.template advance<tile_rows * tile_bytes>(); \
      _tile_loadd(2, (k) + c * 2, stride);              \
      _tile_loadd(3, q + c / 2 * rows, rows * 4);       \
      _tile_dpbf16ps(tile, 2, 3);                       \
    }                                                   \
    if (c < dim) {                                      \
      _tile_loadd(5, (k) + c * 2, stride);              \
      _tile_loadd(6, q + c / 2 * rows, rows * 4);       \
      _tile_dpbf16ps(tile, 5, 6);                       \
    }                                                   \
  } while (false)

template <int rows>
void scores(float const* q, void const* k, std::int64_t stride, int n, int dim, float scale, float* s,
            RowsAhead next) {
  auto const* const keys = static_cast<char const*>(k);
  RowsCursor ahead(next);
  use_shapes(shapes_of<rows>(dim % wide));
  int j = 0;
  for (; j + 2 * tile_rows <= n; j += 2 * tile_rows) {
    FLASHPAD_SCORE_KEYS(0, keys + j * stride, stride);
    FLASHPAD_SCORE_KEYS(1, keys + (j + tile_rows) * stride, stride);
    _tile_stored(0, s + j * rows, rows * 4);
    _tile_stored(1, s + (j + tile_rows) * rows, rows * 4);
  }
  for (; j < n; j += tile_rows) {
    alignas(64) char own[tile_rows * most_dim * 2];
    int const bytes = dim * 2;
    for (int y = 0; y < tile_rows; ++y) {
      if (j + y < n)
        __builtin_memcpy(own + y * bytes, keys + (j + y) * stride, static_cast<unsigned long>(bytes));
      else
        __builtin_memset(own + y * bytes, 0, static_cast<unsigned long>(bytes));
    }
    FLASHPAD_SCORE_KEYS(0, own, bytes);
    _tile_stored(0, s + j * rows, rows * 4);
  }
  for (int i = 0; i < n * rows; i += width<float>) store(s + i, load(s + i) * scale);
}

/// p [keys][rows] to bfloat16, [rows][32 keys]; zeros behind key n.
template <int rows>
FLASHPAD_INLINE void transpose_group(float const* p, int n, bfloat16* to) {
  constexpr int piece = group / rows;  // keys in a vector of 32
  alignas(64) short from[group];
  FLASHPAD_EACH(group) from[i] = static_cast<short>(i % piece * rows + i / piece);
  __m512i const order = _mm512_load_si512(from);
  for (int x = 0; x < rows; ++x) {
    int const left = n * rows - x * group;
    auto const here = [left](int first) __attribute__((always_inline)) {
      int const count = left - first;
      return static_cast<__mmask16>(count >= 16 ? 0xffffu : count <= 0 ? 0u : (1u << count) - 1u);
    };
    __m512 const low = _mm512_maskz_loadu_ps(here(0), p + x * group);
    __m512 const high = _mm512_maskz_loadu_ps(here(16), p + x * group + 16);
    alignas(64) bfloat16 pieces[group];
    _mm512_store_si512(pieces, _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(high, low)));
    FLASHPAD_EACH(rows)
    __builtin_memcpy(to + i * group + x * piece, pieces + i * piece, piece * sizeof(bfloat16));
  }
}

/// Operands B of 32 keys: for each 32 elements a tile of the lower and one of the upper ones, as pairs_of
/// leaves them. A key that does not exist is no key: 0 times what may be infinite would be NaN.
FLASHPAD_INLINE void pair_values(char const* v, std::int64_t stride, int n, int dim, char* to,
                                 RowsCursor& ahead) {
  for (int i = 0; i < tile_rows; ++i) {
    auto const* const even = reinterpret_cast<bfloat16 const*>(v + 2 * i * stride);
    auto const* const odd = reinterpret_cast<bfloat16 const*>(v + (2 * i + 1) * stride);
    char* at = to + i * tile_bytes;
    for (int c = 0; c < dim; c += wide, at += 2 * tile_rows * tile_bytes) {
      int const count = dim - c < wide ? dim - c : wide;
      auto const mask = static_cast<__mmask32>(count == wide ? 0xffffffffu : (1u << count) - 1u);
      __m512bh const none = (__m512bh)_mm512_setzero_si512();
      __m512bh const first = 2 * i < n ? (__m512bh)_mm512_maskz_loadu_epi16(mask, even + c) : none;
      __m512bh const second = 2 * i + 1 < n ? (__m512bh)_mm512_maskz_loadu_epi16(mask, odd + c) : none;
      Pairs const pairs = pairs_of(first, second);
      _mm512_store_si512(at, (__m512i)pairs.low);
      _mm512_store_si512(at + tile_rows * tile_bytes, (__m512i)pairs.high);
      ahead.template advance<2 * tile_bytes>();
    }
  }
}

template <int rows>
void accumulate(float* p, void const* v, std::int64_t stride, int n, int dim, float const* alpha, float* acc,
                RowsAhead next) {
  int const acc_row = (dim + wide - 1) / wide * wide;
  int const acc_bytes = acc_row * static_cast<int>(sizeof(float));
  RowsCursor ahead(next);
  alignas(64) char values[group * most_dim * 2];
  alignas(64) bfloat16 weights[rows * group];
  if (alpha != nullptr) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < acc_row; c += width<float>)
        store(acc + r * acc_row + c, load(acc + r * acc_row + c) * alpha[r]);
  }
  use_shapes(shapes_of<rows>(0));
  for (int j = 0; j < n; j += group) {
    transpose_group<rows>(p + j * rows, n - j, weights);
    pair_values(static_cast<char const*>(v) + j * stride, stride, n - j, dim, values, ahead);
    _tile_loadd(4, weights, tile_bytes);
    char const* at = values;
    for (int c = 0; c < acc_row; c += wide, at += 2 * tile_rows * tile_bytes) {
      _tile_loadd(5, acc + c, acc_bytes);
      _tile_loadd(2, at, tile_bytes);
      _tile_dpbf16ps(5, 4, 2);
      _tile_stored(5, acc + c, acc_bytes);
      _tile_loadd(6, acc + c + 16, acc_bytes);
      _tile_loadd(2, at + tile_rows * tile_bytes, tile_bytes);
      _tile_dpbf16ps(6, 4, 2);
      _tile_stored(6, acc + c + 16, acc_bytes);
    }
  }
}

/// A row's last step: empty registers need not be saved when the system changes threads.
template <class Storage>
void store_and_release(float const* acc, float sum, int dim, void* row) {
  _tile_release();
  store_output<Storage>(acc, sum, dim, row);
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

RowsTables rows_tables_amx_bf16() {
  RowsTables tables;
  RowsTable<float>& table = tables.bf16;
  table.engine = "rows-amx-bf16";
  table.most_rows = level_most_rows;
  table.least_rows =
      2;  // one row by vdpbf16ps: 16.2 and 17.7 GB/s where tiles have 15.2 and 15.5, d = 64, 128
  table.key_unit = sums;
  table.dim_unit = wide;
  table.store_output = store_and_release<bfloat16>;
  table.store_partial = store_and_release<float>;
  fill<0>(table);
  return tables;
}

}  // namespace flashpad::engines
