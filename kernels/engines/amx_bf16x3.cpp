// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host engine for float32 and fp16 on processors with AMX: a float32 is the sum of three bf16 and an fp16
// that of two, exactly, and tdpbf16ps multiplies bf16 exactly, sixteen times as fast as AVX-512 multiplies
// float32. Six of its products give one of float32: those of terms whose weights together are 2^-16 or more,
// which leaves an error like float32's own. All four give one of fp16, and three where P, which is rounded to
// 16 bits, meets V. A term below the smallest normal number is zero; an infinity has no such sum, and another
// engine multiplies from there on. Query rows lie along the lanes, as in the engine for bf16. Includes
// neither Kokkos nor the standard library's templates.
#include "kernels/engines/amx_tiles.hpp"
#include "kernels/engines/bf16_terms.hpp"
#include "kernels/engines/host_tables.hpp"
#include "kernels/engines/portable_softmax.hpp"

namespace flashpad::engines {

namespace {

constexpr int row_bytes = rows * static_cast<int>(sizeof(float));      // of the scores, and of a row of pairs
constexpr int half_row = tile_rows * static_cast<int>(sizeof(float));  // from one vector of rows to the next

/// The products of terms that count, of the first operand and the second, greatest first.
template <int products>
struct TermPairs {
  static constexpr int count = products;
  static constexpr int first[6] = {0, 0, 1, products == 4 ? 1 : 0, 1, 2};
  static constexpr int second[6] = {0, 1, 0, products == 4 ? 1 : 2, 1, 0};
};

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

constexpr int whole_groups(int n) { return (n + group - 1) / group * group; }

/// Registers 0 to 3 are sums, 4 is A and 5 B, all whole; 6 and 7 are what a remainder needs.
FLASHPAD_INLINE TileShapes shapes_with(int rows6, int bytes6, int rows7, int bytes7) {
  TileShapes shapes;
  for (int tile = 0; tile < 6; ++tile) shape(shapes, tile, tile_rows, tile_bytes);
  shape(shapes, 6, rows6, bytes6);
  shape(shapes, 7, rows7, bytes7);
  return shapes;
}

/// C += A B for two vectors of rows: registers `a` and `b` of 16 keys, or elements of V, at `first`, and with
/// `two` of 16 more. Five loads take 40 of the four products' 64 cycles.
#define FLASHPAD_MULTIPLY(two, a, b, first, more, stride, with, with_stride) \
  do {                                                                       \
    _tile_loadd(a, first, stride);                                           \
    _tile_loadd(b, with, with_stride);                                       \
    _tile_dpbf16ps(0, a, b);                                                 \
    _tile_loadd(b, (with) + half_row, with_stride);                          \
    _tile_dpbf16ps(1, a, b);                                                 \
    if (two) {                                                               \
      _tile_loadd(a, more, stride);                                          \
      _tile_dpbf16ps(3, a, b);                                               \
      _tile_loadd(b, with, with_stride);                                     \
      _tile_dpbf16ps(2, a, b);                                               \
    }                                                                        \
  } while (false)

template <bool two>
FLASHPAD_INLINE void zero_sums() {
  _tile_zero(0);
  _tile_zero(1);
  if (two) {
    _tile_zero(2);
    _tile_zero(3);
  }
}

template <bool two>
FLASHPAD_INLINE void load_sums(char const* from) {
  _tile_loadd(0, from, row_bytes);
  _tile_loadd(1, from + half_row, row_bytes);
  if (two) {
    _tile_loadd(2, from + tile_rows * row_bytes, row_bytes);
    _tile_loadd(3, from + tile_rows * row_bytes + half_row, row_bytes);
  }
}

template <bool two>
FLASHPAD_INLINE void store_sums(char* to) {
  _tile_stored(0, to, row_bytes);
  _tile_stored(1, to + half_row, row_bytes);
  if (two) {
    _tile_stored(2, to + tile_rows * row_bytes, row_bytes);
    _tile_stored(3, to + tile_rows * row_bytes + half_row, row_bytes);
  }
}

/// Scores of 16 keys, or of 32.
template <class Pairs, bool two>
FLASHPAD_INLINE void score_keys(char const* q, char const* k, std::int64_t stride, int dim, char* s) {
  std::int64_t const term_bytes = dim * 2;
  zero_sums<two>();
  int c = 0;
  for (; c + group <= dim; c += group) {
#pragma GCC unroll 6
    for (int pair = 0; pair < Pairs::count; ++pair) {
      char const* const keys = k + Pairs::first[pair] * term_bytes + c * 2;
      char const* const queries = q + (Pairs::second[pair] * term_bytes * rows + c / 2 * row_bytes);
      FLASHPAD_MULTIPLY(two, 4, 5, keys, keys + tile_rows * stride, stride, queries, row_bytes);
    }
  }
  for (int pair = 0; c < dim && pair < Pairs::count; ++pair) {
    char const* const keys = k + Pairs::first[pair] * term_bytes + c * 2;
    char const* const queries = q + (Pairs::second[pair] * term_bytes * rows + c / 2 * row_bytes);
    FLASHPAD_MULTIPLY(two, 6, 7, keys, keys + tile_rows * stride, stride, queries, row_bytes);
  }
  store_sums<two>(s);
}

template <class Pairs>
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
  // Rows of k behind key n are whatever lies there, in rows of s that nobody reads.
  for (int j = 0; j < n; j += 2 * tile_rows) {
    char* const at = reinterpret_cast<char*>(s + j * rows);
    if (n - j > tile_rows)
      score_keys<Pairs, true>(q, k + j * stride, stride, dim, at);
    else
      score_keys<Pairs, false>(q, k + j * stride, stride, dim, at);
    look(j);
  }
  look(n);
  if (seen < n) FLASHPAD_EACH(vectors) most[i] = maximum<float>(most[i], load(s + seen * rows + i * 16));
  FLASHPAD_EACH(vectors) store(tile_max + i * 16, maximum<float>(most[i], most[vectors + i]));
}

/// P as operands B: a row of pairs of keys for each term. The first two lie in the place of the two keys'
/// scores, the third behind the scores of all n keys.
template <int terms>
struct SplitP {
  int n;

  FLASHPAD_INLINE void put(float* s, int j, int vector, __m512 even, __m512 odd) const {
    int const at = j * rows + vector * 16;
    int const third = (whole_groups(n) + j / 2) * rows + vector * 16;
    for (int number = 0; number < terms; ++number) {
      _mm512_store_si512(s + (number == 2 ? third : at + number * rows), pair_upper(even, odd));
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

/// The second product, 32 elements of V's rows by 32 keys by a pair of terms a step, or 16 elements where no
/// more are left.
template <class Pairs>
class Product {
 public:
  explicit FLASHPAD_INLINE Product(HostProduct<float> const& of)
      : m_of(of), m_groups(whole_groups(of.n) / group) {
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
  /// At most so many.
  [[nodiscard]] FLASHPAD_INLINE int steps() const { return (m_of.dim + 31) / 32 * m_groups * Pairs::count; }

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
  [[nodiscard]] FLASHPAD_INLINE char* sums() const {
    return reinterpret_cast<char*>(m_of.acc + m_done * rows);
  }
  [[nodiscard]] FLASHPAD_INLINE static std::int64_t weight_stride(int term) {
    return term == 2 ? row_bytes : 2 * row_bytes;
  }
  [[nodiscard]] FLASHPAD_INLINE char const* weights(int g, int term) const {
    auto const* const p = static_cast<char const*>(m_of.p);
    return term == 2 ? p + (m_groups * group + g * (group / 2)) * row_bytes
                     : p + (g * group + term) * row_bytes;
  }
  [[nodiscard]] FLASHPAD_INLINE char const* values(int g, int term) const {
    return static_cast<char const*>(m_of.v) + g * m_of.stride + (term * m_of.dim + m_done) * tile_bytes;
  }

  template <bool two>
  FLASHPAD_INLINE void multiply() {
    if (m_group == 0 && m_pair == 0) {
      if (m_of.rescale == Rescale::reset)
        zero_sums<two>();
      else
        load_sums<two>(sums());
    }
    char const* const elements = values(m_group, Pairs::first[m_pair]);
    int const term = Pairs::second[m_pair];
    FLASHPAD_MULTIPLY(two, 4, 5, elements, elements + tile_rows * tile_bytes, tile_bytes,
                      weights(m_group, term), weight_stride(term));
    if (++m_pair < Pairs::count) return;
    m_pair = 0;
    if (++m_group < m_groups) return;
    m_group = 0;
    store_sums<two>(sums());
    m_done += two ? 2 * tile_rows : tile_rows;
  }

  /// The last 8 elements, one vector of query rows at a time.
  FLASHPAD_INLINE void multiply_last() {
    for (int x = 0; x < vectors; ++x) {
      if (m_of.rescale == Rescale::reset)
        _tile_zero(7);
      else
        _tile_loadd(7, sums() + x * half_row, row_bytes);
      for (int g = 0; g < m_groups; ++g) {
        for (int pair = 0; pair < Pairs::count; ++pair) {
          int const term = Pairs::second[pair];
          _tile_loadd(6, values(g, Pairs::first[pair]), tile_bytes);
          _tile_loadd(5, weights(g, term) + x * half_row, weight_stride(term));
          _tile_dpbf16ps(7, 6, 5);
        }
      }
      _tile_stored(7, sums() + x * half_row, row_bytes);
    }
    m_done = m_of.dim;
  }

  HostProduct<float> m_of;
  int m_groups;
  int m_group = 0;  ///< whose turn it is
  int m_pair = 0;
  int m_done = 0;  ///< elements
};

template <class Pairs>
void accumulate(void const* p, void const* v, std::int64_t stride, int n, int dim, Rescale rescale,
                float const* alpha, float* acc) {
  Product<Pairs> product({p, v, stride, n, dim, rescale, alpha, acc});
  product.begin();
  while (product.left()) product.step();
}

template <int terms>
Rescale softmax_of_groups(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                          float* alpha) {
  SplitP<terms> const keep{n};
  Rescale const rescale = softmax_meanwhile<float>(s, n, scale, tile_max, max, sum, alpha, keep, [](int) {});
  keep.fill(s);
  return rescale;
}

/// The tiles multiply while the vectors take exponentials. They take one of the two ports of AVX-512, so that
/// the exponentials last longer; what is won is the time in which either would wait.
template <class Of>
Rescale softmax_and_product(float* s, int n, float scale, float const* tile_max, float* max, float* sum,
                            float* alpha, HostProduct<float> const& of) {
  SplitP<Of::terms> const keep{n};
  Product<typename Of::Outputs> product(of);
  product.begin();
  int const steps = product.steps();
  int due = 0;  // n for a step
  Rescale const rescale = softmax_meanwhile<float>(
      s, n, scale, tile_max, max, sum, alpha, keep, [&](int) __attribute__((always_inline)) {
        for (due += 2 * steps; due >= n && product.left(); due -= n) product.step();
      });
  while (product.left()) product.step();
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
  table.lanes = rows;
  // Measured on one core with 2048 keys, over portable-v4: float32 0.8 at 32 rows, 0.93 to 0.99 at 64, 1.04
  // to 1.21 at 128; fp16, which that converts as well, 1.25 to 1.3 at 17 and 32.
  table.least_rows = terms > 2 ? 128 : 1;
  table.group = group;
  table.operand_bytes = 2 * terms;
  table.score_bytes = terms > 2 ? 6 : 4;
  table.storage_bytes = sizeof(Storage);
  table.takes = no_infinity<Storage>;
  table.load_queries = load_queries<Storage, terms>;
  table.load_keys = load_keys<Storage, terms>;
  table.load_values = load_values<Storage, terms>;
  table.scores = scores<typename Of::Scores>;
  table.mask = mask<float>;
  table.softmax = softmax_of_groups<terms>;
  table.softmax_meanwhile = softmax_and_product<Of>;
  table.softmax_row = softmax_row<float>;
  table.accumulate = accumulate<typename Of::Outputs>;
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
