// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host engine for bf16 on processors with AMX: tdpbf16ps multiplies 16 x 32 by 32 x 16 bf16 in 16 cycles,
// sixteen times the multiply-adds of AVX-512 in float32. With query rows along the lanes, Q and P are
// operands B as the other engine for pairs has them, K is operand A where it lies, and the scores come out as
// the softmax takes them; V alone is transposed, once for all rows of a query tile. The instruction takes
// denormals for zero and flushes its results. Includes neither Kokkos nor the standard library's templates.
#include "kernels/engines/amx_tiles.hpp"
#include "kernels/engines/bf16_pairs.hpp"
#include "kernels/engines/host_tables.hpp"

namespace flashpad::engines {

namespace {

constexpr int group = 32;  // keys, or elements of a row, in a tile's row
constexpr int row_bytes = rows * static_cast<int>(sizeof(float));  // of the scores, and of a row of pairs
constexpr int half = tile_rows * static_cast<int>(sizeof(float));  // from one vector of rows to the next
constexpr int most_dim = 256;

/// Registers 0 to 3 are sums, 4 is A and 5 B, all whole; 6 and 7 are what a remainder needs.
FLASHPAD_INLINE TileShapes shapes_with(int rows6, int bytes6, int rows7, int bytes7) {
  TileShapes shapes;
  for (int tile = 0; tile < 6; ++tile) shape(shapes, tile, tile_rows, tile_bytes);
  shape(shapes, 6, rows6, bytes6);
  shape(shapes, 7, rows7, bytes7);
  return shapes;
}

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

/// C = the products of 16 keys, or of 32, with all rows; the last elements of a row may be fewer than 32.
template <bool two>
FLASHPAD_INLINE void score_keys(char const* q, char const* k, std::int64_t stride, int dim, char* s) {
  char const* const more = k + tile_rows * stride;
  _tile_zero(0);
  _tile_zero(1);
  if (two) {
    _tile_zero(2);
    _tile_zero(3);
  }
  int c = 0;
  for (; c + group <= dim; c += group) {
    char const* const queries = q + c / 2 * row_bytes;
    _tile_loadd(4, k + c * 2, stride);
    _tile_loadd(5, queries, row_bytes);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(5, queries + half, row_bytes);
    _tile_dpbf16ps(1, 4, 5);
    if (two) {
      _tile_loadd(4, more + c * 2, stride);
      _tile_dpbf16ps(3, 4, 5);
      _tile_loadd(5, queries, row_bytes);
      _tile_dpbf16ps(2, 4, 5);
    }
  }
  if (c < dim) {
    char const* const queries = q + c / 2 * row_bytes;
    _tile_loadd(6, k + c * 2, stride);
    _tile_loadd(7, queries, row_bytes);
    _tile_dpbf16ps(0, 6, 7);
    _tile_loadd(7, queries + half, row_bytes);
    _tile_dpbf16ps(1, 6, 7);
    if (two) {
      _tile_loadd(6, more + c * 2, stride);
      _tile_dpbf16ps(3, 6, 7);
      _tile_loadd(7, queries, row_bytes);
      _tile_dpbf16ps(2, 6, 7);
    }
  }
  _tile_stored(0, s, row_bytes);
  _tile_stored(1, s + half, row_bytes);
  if (two) {
    _tile_stored(2, s + tile_rows * row_bytes, row_bytes);
    _tile_stored(3, s + tile_rows * row_bytes + half, row_bytes);
  }
}

void scores(void const* query, void const* keys, std::int64_t stride, int n, int dim, float* s,
            float* tile_max) {
  auto const* const q = static_cast<char const*>(query);
  auto const* const k = static_cast<char const*>(keys);
  int const rest = dim % group;
  use_shapes(rest == 0 ? shapes_with(0, 0, 0, 0) : shapes_with(tile_rows, rest * 2, rest / 2, tile_bytes));
  FloatVector most[2 * vectors];
  FLASHPAD_EACH(2 * vectors) most[i] = splat<float>(-infinity<float>);
  // The maximum is one block of keys behind: tiles multiply meanwhile.
  int seen = 0;
  auto const look = [&](int until) __attribute__((always_inline)) {
    for (; seen + 2 <= until; seen += 2)
      FLASHPAD_EACH(2 * vectors) most[i] = maximum<float>(most[i], load(s + seen * rows + i * 16));
  };
  int j = 0;
  for (; j + 2 * tile_rows <= n; j += 2 * tile_rows) {
    score_keys<true>(q, k + j * stride, stride, dim, reinterpret_cast<char*>(s + j * rows));
    look(j);
  }
  if (j + tile_rows <= n) {
    score_keys<false>(q, k + j * stride, stride, dim, reinterpret_cast<char*>(s + j * rows));
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
    score_keys<false>(q, own, bytes, dim, reinterpret_cast<char*>(s + j * rows));
  }
  look(n);
  if (seen < n) FLASHPAD_EACH(vectors) most[i] = maximum<float>(most[i], load(s + seen * rows + i * 16));
  FLASHPAD_EACH(vectors) store(tile_max + i * 16, maximum<float>(most[i], most[vectors + i]));
}

/// The second product, 32 elements of V's rows by 32 keys a step, or 16 elements where no more are left.
class Product {
 public:
  explicit FLASHPAD_INLINE Product(HostProduct<float> const& of)
      : m_of(of), m_groups((of.n + group - 1) / group) {
    if (m_groups == 0) m_done = m_of.dim;
  }

  /// To be called before the first step; the shapes stay for all steps.
  FLASHPAD_INLINE void begin() const {
    bool const tail = m_of.dim % tile_rows != 0;
    use_shapes(tail ? shapes_with(8, tile_bytes, 8, tile_bytes) : shapes_with(0, 0, 0, 0));
    if (m_of.rescale != Rescale::scale) return;
    FloatVector factor[vectors];
    FLASHPAD_EACH(vectors) factor[i] = load(m_of.alpha + i * 16);
    for (int c = 0; c < m_of.dim; ++c) {
      float* const acc = m_of.acc + c * rows;
      FLASHPAD_EACH(vectors) store(acc + i * 16, load(acc + i * 16) * factor[i]);
    }
  }

  [[nodiscard]] FLASHPAD_INLINE bool left() const { return m_done < m_of.dim; }

  FLASHPAD_INLINE void step() {
    int const here = m_of.dim - m_done;
    if (here >= 2 * tile_rows)
      multiply<true>();
    else if (here >= tile_rows)
      multiply<false>();
    else
      multiply_last();
  }

 private:
  static constexpr int next = tile_rows * row_bytes;

  [[nodiscard]] FLASHPAD_INLINE char* sums() const {
    return reinterpret_cast<char*>(m_of.acc + m_done * rows);
  }
  [[nodiscard]] FLASHPAD_INLINE char const* weights(int g) const {
    return static_cast<char const*>(m_of.p) + g * (group / 2) * row_bytes;
  }
  [[nodiscard]] FLASHPAD_INLINE char const* values(int g) const {
    return static_cast<char const*>(m_of.v) + g * m_of.stride + m_done * tile_bytes;
  }

  template <bool two>
  FLASHPAD_INLINE void multiply() {
    char* const acc = sums();
    if (m_group == 0 && m_of.rescale == Rescale::reset) {
      _tile_zero(0);
      _tile_zero(1);
      if (two) {
        _tile_zero(2);
        _tile_zero(3);
      }
    } else if (m_group == 0) {
      _tile_loadd(0, acc, row_bytes);
      _tile_loadd(1, acc + half, row_bytes);
      if (two) {
        _tile_loadd(2, acc + next, row_bytes);
        _tile_loadd(3, acc + next + half, row_bytes);
      }
    }
    _tile_loadd(4, values(m_group), tile_bytes);
    _tile_loadd(5, weights(m_group), row_bytes);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(5, weights(m_group) + half, row_bytes);
    _tile_dpbf16ps(1, 4, 5);
    if (two) {
      _tile_loadd(4, values(m_group) + tile_rows * tile_bytes, tile_bytes);
      _tile_dpbf16ps(3, 4, 5);
      _tile_loadd(5, weights(m_group), row_bytes);
      _tile_dpbf16ps(2, 4, 5);
    }
    if (++m_group < m_groups) return;
    m_group = 0;
    m_done += two ? 2 * tile_rows : tile_rows;
    _tile_stored(0, acc, row_bytes);
    _tile_stored(1, acc + half, row_bytes);
    if (two) {
      _tile_stored(2, acc + next, row_bytes);
      _tile_stored(3, acc + next + half, row_bytes);
    }
  }

  /// The last 8 elements, one vector of query rows at a time.
  FLASHPAD_INLINE void multiply_last() {
    for (int x = 0; x < vectors; ++x) {
      if (m_of.rescale == Rescale::reset)
        _tile_zero(7);
      else
        _tile_loadd(7, sums() + x * half, row_bytes);
      for (int g = 0; g < m_groups; ++g) {
        _tile_loadd(6, values(g), tile_bytes);
        _tile_loadd(5, weights(g) + x * half, row_bytes);
        _tile_dpbf16ps(7, 6, 5);
      }
      _tile_stored(7, sums() + x * half, row_bytes);
    }
    m_done = m_of.dim;
  }

  HostProduct<float> m_of;
  int m_groups;
  int m_group = 0;  ///< whose turn it is
  int m_done = 0;   ///< elements
};

void accumulate(void const* p, void const* v, std::int64_t stride, int n, int dim, Rescale rescale,
                float const* alpha, float* acc) {
  Product product({p, v, stride, n, dim, rescale, alpha, acc});
  product.begin();
  while (product.left()) product.step();
}

/// P as the other engine for pairs has it, and zeros to a whole group.
FLASHPAD_INLINE void fill_group(float* s, int n) {
  for (int pair = (n + 1) / 2; pair < (n + group - 1) / group * (group / 2); ++pair)
    FLASHPAD_EACH(vectors) store(s + pair * rows + i * 16, splat<float>(0));
}

Rescale softmax_of_groups(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                          float* alpha) {
  Rescale const rescale = softmax<float, RoundP>(s, n, scale, tile_max, max, sum, alpha);
  fill_group(s, n);
  return rescale;
}

/// The tiles multiply while the vectors take exponentials.
Rescale softmax_and_product(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                            float* alpha, HostProduct<float> const& of) {
  Product product(of);
  product.begin();
  int const turns = (n + 15) / 16;
  int const steps = ((of.dim + 31) / 32 * ((of.n + group - 1) / group) + turns - 1) / turns;
  Rescale const rescale = softmax_meanwhile<float>(
      s, n, scale, tile_max, max, sum, alpha, RoundP{}, [&](int j) __attribute__((always_inline)) {
        for (int i = 0; j % 16 == 0 && i < steps && product.left(); ++i) product.step();
      });
  while (product.left()) product.step();
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
  table.accumulate = accumulate;
  table.store_output = store_and_release;
  return tables;
}

}  // namespace flashpad::engines
