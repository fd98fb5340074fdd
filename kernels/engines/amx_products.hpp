// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/amx_tiles.hpp"
#include "kernels/engines/host_table.hpp"
#include "kernels/engines/portable_softmax.hpp"

// Both products of a block of query rows by tile registers, rows along the lanes, operands that are bf16 or
// sums of them. As portable_vector.hpp, for files that are compiled once per processor level; it takes AMX.

namespace flashpad::engines {
namespace {

constexpr double most_slack = 8;  // weights up to e^8
// A burst of prefetches takes the buffers that tiles from the second level need (bf16 without them at d =
// 128, N = 512 to 4096: 1.03 to 1.06 times as fast, d = 64 0.99 to 1.01; sums of bf16 0.97 to 1.06).
constexpr bool tiles_ask_ahead = false;

// Of the scores, and of a row of pairs.
constexpr int row_bytes = block_rows * static_cast<int>(sizeof(float));
constexpr int half_row = tile_rows * static_cast<int>(sizeof(float));  // from one vector of rows to the next

/// The products of terms that count, of the first operand and the second, greatest first.
template <int products>
struct TermPairs {
  static constexpr int count = products;
  static constexpr int first[6] = {0, 0, 1, products == 4 ? 1 : 0, 1, 2};
  static constexpr int second[6] = {0, 1, 0, products == 4 ? 1 : 2, 1, 0};
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

/// To be called before score_keys; the shapes stay for all keys.
FLASHPAD_INLINE void begin_scores(int dim) {
  int const rest = dim % group;
  use_shapes(rest == 0 ? shapes_with(0, 0, 0, 0) : shapes_with(tile_rows, rest * 2, rest / 2, tile_bytes));
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
      char const* const queries = q + (Pairs::second[pair] * term_bytes * block_rows + c / 2 * row_bytes);
      FLASHPAD_MULTIPLY(two, 4, 5, keys, keys + tile_rows * stride, stride, queries, row_bytes);
    }
  }
  for (int pair = 0; c < dim && pair < Pairs::count; ++pair) {
    char const* const keys = k + Pairs::first[pair] * term_bytes + c * 2;
    char const* const queries = q + (Pairs::second[pair] * term_bytes * block_rows + c / 2 * row_bytes);
    FLASHPAD_MULTIPLY(two, 6, 7, keys, keys + tile_rows * stride, stride, queries, row_bytes);
  }
  store_sums<two>(s);
}

/// The maximum of the scores of each row, taken one block of keys behind: tiles multiply meanwhile.
class RowMaximum {
 public:
  explicit FLASHPAD_INLINE RowMaximum(float const* s) : m_s(s) {
    FLASHPAD_EACH(2 * vectors) m_most[i] = splat<float>(-infinity<float>);
  }
  /// Of the keys before `until` as well.
  FLASHPAD_INLINE void look(int until) {
    for (; m_seen + 2 <= until; m_seen += 2) {
      FLASHPAD_EACH(2 * vectors)
      m_most[i] = maximum<float>(m_most[i], load(m_s + m_seen * block_rows + i * 16));
    }
  }
  FLASHPAD_INLINE void store_of(int n, float* tile_max) {
    look(n);
    if (m_seen < n)
      FLASHPAD_EACH(vectors) m_most[i] = maximum<float>(m_most[i], load(m_s + m_seen * block_rows + i * 16));
    FLASHPAD_EACH(vectors) store(tile_max + i * 16, maximum<float>(m_most[i], m_most[vectors + i]));
  }

 private:
  float const* m_s;
  int m_seen = 0;
  FloatVector m_most[2 * vectors];
};

/// The second product. Weights says which pairs of terms are multiplied and where P's are. 32 elements of V's
/// rows by 32 keys by a pair of terms a step, or 16 elements where no more are left.
template <class Weights>
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
    if (apart || m_of.rescale != Rescale::scale) return;
    FloatVector factor[vectors];
    FLASHPAD_EACH(vectors) factor[i] = load(m_of.alpha + i * 16);
    for (int c = 0; c < m_of.dim; ++c) {
      float* const acc = m_of.acc + c * block_rows;
      FLASHPAD_EACH(vectors) store(acc + i * 16, load(acc + i * 16) * factor[i]);
    }
  }

  [[nodiscard]] FLASHPAD_INLINE bool left() const { return m_done < m_of.dim; }
  /// At most so many.
  [[nodiscard]] FLASHPAD_INLINE int steps() const {
    return (m_of.dim + 31) / 32 * m_groups * Weights::Pairs::count;
  }

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
  using Pairs = typename Weights::Pairs;
  /// Whether the keys' sum is taken apart from acc's, as in portable_sums.hpp: where float32 is what is
  /// multiplied.
  static constexpr bool apart = Pairs::count > 4;

  /// Where a block's sums go: to acc itself, or where add_part finds them.
  [[nodiscard]] FLASHPAD_INLINE char* to() {
    return apart && m_of.rescale != Rescale::reset ? reinterpret_cast<char*>(m_part) : sums();
  }
  /// acc = acc * alpha + part, for so many elements of V's rows.
  FLASHPAD_INLINE void add_part(int elements) const {
    if (!apart || m_of.rescale == Rescale::reset) return;
    FloatVector before[vectors];
    FLASHPAD_EACH(vectors)
    before[i] = m_of.rescale == Rescale::scale ? load(m_of.alpha + i * 16) : splat<float>(1);
    for (int c = 0; c < elements; ++c) {
      float* const acc = m_of.acc + (m_done + c) * block_rows;
      FLASHPAD_EACH(vectors)
      store(acc + i * 16, load(acc + i * 16) * before[i] + load(m_part + c * block_rows + i * 16));
    }
  }
  [[nodiscard]] FLASHPAD_INLINE char* sums() const {
    return reinterpret_cast<char*>(m_of.acc + m_done * block_rows);
  }
  [[nodiscard]] FLASHPAD_INLINE char const* weights(int g, int term) const {
    return static_cast<char const*>(m_of.p) + Weights::offset(m_groups, g, term);
  }
  [[nodiscard]] FLASHPAD_INLINE char const* values(int g, int term) const {
    return static_cast<char const*>(m_of.v) + g * m_of.stride + (term * m_of.dim + m_done) * tile_bytes;
  }

  template <bool two>
  FLASHPAD_INLINE void multiply() {
    if (m_group == 0 && m_pair == 0) {
      if (apart || m_of.rescale == Rescale::reset)
        zero_sums<two>();
      else
        load_sums<two>(sums());
    }
    char const* const elements = values(m_group, Pairs::first[m_pair]);
    int const term = Pairs::second[m_pair];
    FLASHPAD_MULTIPLY(two, 4, 5, elements, elements + tile_rows * tile_bytes, tile_bytes,
                      weights(m_group, term), Weights::stride(term));
    if (++m_pair < Pairs::count) return;
    m_pair = 0;
    if (++m_group < m_groups) return;
    m_group = 0;
    constexpr int elements_done = two ? 2 * tile_rows : tile_rows;
    store_sums<two>(to());
    add_part(elements_done);
    m_done += elements_done;
  }

  /// The last 8 elements, one vector of query rows at a time.
  FLASHPAD_INLINE void multiply_last() {
    for (int x = 0; x < vectors; ++x) {
      if (apart || m_of.rescale == Rescale::reset)
        _tile_zero(7);
      else
        _tile_loadd(7, sums() + x * half_row, row_bytes);
      for (int g = 0; g < m_groups; ++g) {
        for (int pair = 0; pair < Pairs::count; ++pair) {
          int const term = Pairs::second[pair];
          _tile_loadd(6, values(g, Pairs::first[pair]), tile_bytes);
          _tile_loadd(5, weights(g, term) + x * half_row, Weights::stride(term));
          _tile_dpbf16ps(7, 6, 5);
        }
      }
      _tile_stored(7, to() + x * half_row, row_bytes);
    }
    add_part(m_of.dim - m_done);
    m_done = m_of.dim;
  }

  HostProduct<float> m_of;
  int m_groups;
  int m_group = 0;  ///< whose turn it is
  int m_pair = 0;
  int m_done = 0;  ///< elements
  alignas(64) float m_part[apart ? 2 * tile_rows * block_rows : 1];
};

template <class Weights>
void accumulate(void const* p, void const* v, std::int64_t stride, int n, int dim, Rescale rescale,
                float const* alpha, float* acc) {
  Product<Weights> product({p, v, stride, n, dim, rescale, alpha, acc});
  product.begin();
  while (product.left()) product.step();
}

/// The tiles multiply while the vectors take exponentials. They take one of the two ports of AVX-512, so that
/// the exponentials last longer; what is won is the time in which either would wait.
template <class Weights, class Exp, class StoreP>
FLASHPAD_INLINE Rescale softmax_beside(HostProduct<float> const& of, float* s, int n, float scale,
                                       float const* tile_max, float* max, float* sum, float* alpha,
                                       StoreP const& keep) {
  Product<Weights> product(of);
  product.begin();
  int const steps = product.steps();
  int due = 0;  // n for a step
  Rescale const rescale = softmax_meanwhile<float, Exp>(
      s, n, scale, tile_max, max, sum, alpha, keep, [&](int) __attribute__((always_inline)) {
        for (due += 2 * steps; due >= n && product.left(); due -= n) product.step();
      });
  while (product.left()) product.step();
  return rescale;
}

}  // namespace
}  // namespace flashpad::engines
