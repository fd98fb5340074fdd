// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/engines/host_table.hpp"
#include "kernels/engines/portable_exp.hpp"

// What lies between the two products: the mask and the softmax of a block of scores, query rows along the
// lanes. As portable_vector.hpp, included by files that are compiled once per processor level.

namespace flashpad::engines {
namespace {

template <class T>
void mask(T* s, int n, int low, int high, T* tile_max) {
  using Bits = typename VectorOf<T>::Bits;
  // Keys that every row sees: their scores only go into the maximum.
  int const from = low + lanes<T> - 1 < 0 ? 0 : low + lanes<T> - 1 < n ? low + lanes<T> - 1 : n;
  int const to = high + 1 < from ? from : high + 1 < n ? high + 1 : n;
  Bits row[vectors];
  Vector<T> most[vectors];
  FLASHPAD_EACH(lanes<T>) row[i / width<T>][i % width<T>] = i;
  FLASHPAD_EACH(vectors) most[i] = splat<T>(-infinity<T>);
  auto const hide = [&](int j)
      __attribute__((always_inline)){FLASHPAD_EACH(vectors){T* const at = s + j * lanes<T> + i * width<T>;
  // A guarded -infinity and no large negative number: a finite one would beat logits that are smaller.
  auto const seen = (row[i] <= j - low) & (row[i] >= j - high);
  Vector<T> const score = seen ? load(at) : splat<T>(-infinity<T>);
  store(at, score);
  most[i] = maximum<T>(most[i], score);
}
};  // namespace
for (int j = 0; j < from; ++j) hide(j);
for (int j = from; j < to; ++j)
  FLASHPAD_EACH(vectors) most[i] = maximum<T>(most[i], load(s + j * lanes<T> + i * width<T>));
for (int j = to; j < n; ++j) hide(j);
FLASHPAD_EACH(vectors) store(tile_max + i * width<T>, most[i]);
}  // namespace flashpad::engines

/// How P goes to memory where the second product takes it in T: in the place of the scores, two keys at a
/// time or the last one alone.
template <class T>
struct KeepP {
  FLASHPAD_INLINE static void pair(T* s, int j, Vector<T> const (&p)[2 * vectors]) {
    FLASHPAD_EACH(2 * vectors) store(s + j * lanes<T> + i * width<T>, p[i]);
  }
  FLASHPAD_INLINE static void last(T* s, int j, Vector<T> const (&p)[vectors]) {
    FLASHPAD_EACH(vectors) store(s + j * lanes<T> + i * width<T>, p[i]);
  }
};

/// p = exp(scale * (s - reference)) of vectors of scores, by turns of the rows' two.
template <class T>
class ExpOfScores {
 public:
  FLASHPAD_INLINE ExpOfScores(Vector<T> const (&reference)[vectors], T scale) : m_scale(scale) {
    FLASHPAD_EACH(vectors) m_reference[i] = reference[i];
  }
  template <int count>
  FLASHPAD_INLINE void operator()(Vector<T> (&p)[count]) const {
    FLASHPAD_EACH(count) p[i] -= m_reference[i % vectors];
    exp_nonpositive(p, m_scale);
  }

 private:
  Vector<T> m_reference[vectors];
  T m_scale;
};

/// Calls meanwhile(j) before keys j and j + 1: products that do not wait for these scores.
template <class T, class Exp, class StoreP, class Meanwhile>
FLASHPAD_INLINE Rescale softmax_meanwhile(T* s, int n, T scale, T const* tile_max, T* max, T* sum, T* alpha,
                                          StoreP const& keep, Meanwhile const& meanwhile) {
  Vector<T> reference[vectors], factor[vectors];
  typename VectorOf<T>::Bits moved = {}, begun = {};
  for (int x = 0; x < vectors; ++x) {
    Vector<T> const old_max = load(max + x * width<T>);
    Vector<T> const new_max = maximum<T>(old_max, load(tile_max + x * width<T>));
    // -infinity - -infinity would be NaN: a row that has seen no key yet takes 0 as its reference instead.
    reference[x] = new_max == -infinity<T> ? splat<T>(0) : new_max;
    factor[x] = old_max - reference[x];
    moved |= old_max != new_max;
    begun |= old_max != -infinity<T>;
    store(max + x * width<T>, new_max);
  }
  exp_nonpositive(factor, scale);

  Exp const weigh(reference, scale);
  Vector<T> total[2 * vectors] = {};
  int j = 0;
  for (; j + 2 <= n; j += 2) {
    meanwhile(j);
    Vector<T> p[2 * vectors];
    FLASHPAD_EACH(2 * vectors) p[i] = load(s + j * lanes<T> + i * width<T>);
    weigh(p);
    FLASHPAD_EACH(2 * vectors) total[i] += p[i];
    keep.pair(s, j, p);
  }
  if (j < n) {
    Vector<T> p[vectors];
    FLASHPAD_EACH(vectors) p[i] = load(s + j * lanes<T> + i * width<T>);
    weigh(p);
    FLASHPAD_EACH(vectors) total[i] += p[i];
    keep.last(s, j, p);
  }
  FLASHPAD_EACH(vectors) {
    T* const at = sum + i * width<T>;
    store(at, load(at) * factor[i] + (total[i] + total[vectors + i]));
    store(alpha + i * width<T>, factor[i]);
  }
  return !any(begun) ? Rescale::reset : any(moved) ? Rescale::scale : Rescale::none;
}

template <class T, class StoreP, class Exp = ExpOfScores<T>>
Rescale softmax(T* s, int n, T scale, T const* tile_max, T* max, T* sum, T* alpha) {
  return softmax_meanwhile<T, Exp>(s, n, scale, tile_max, max, sum, alpha, StoreP{}, [](int) {});
}

template <class T>
void softmax_row(T* s, std::int64_t n, T* max, T* sum) {
  std::int64_t const whole = n / width<T> * width<T>;
  Vector<T> most = splat<T>(-infinity<T>);
  for (std::int64_t j = 0; j < whole; j += width<T>) most = maximum<T>(most, load_unaligned(s + j));
  // What is left over is padded with scores of -infinity, whose exponential is 0.
  Vector<T> rest = splat<T>(-infinity<T>);
  for (std::int64_t j = whole; j < n; ++j) rest[j - whole] = s[j];
  most = maximum<T>(most, rest);
  T row_max = -infinity<T>;
  for (int r = 0; r < width<T>; ++r) row_max = most[r] > row_max ? most[r] : row_max;

  T const reference = row_max == -infinity<T> ? T{0} : row_max;
  Vector<T> total = {};
  for (std::int64_t j = 0; j < whole; j += width<T>) {
    Vector<T> p[1] = {load_unaligned(s + j) - reference};
    exp_nonpositive(p, T{1});
    store_unaligned(s + j, p[0]);
    total += p[0];
  }
  Vector<T> p[1] = {rest - reference};
  exp_nonpositive(p, T{1});
  total += p[0];
  T row_sum = 0;
  for (int r = 0; r < width<T>; ++r) row_sum += total[r];
  T const inverse = row_sum == 0 ? T{0} : 1 / row_sum;
  for (std::int64_t j = 0; j < whole; j += width<T>) store_unaligned(s + j, load_unaligned(s + j) * inverse);
  for (std::int64_t j = whole; j < n; ++j) s[j] = p[0][j - whole] * inverse;
  *max = row_max;
  *sum = row_sum;
}

}  // namespace
}  // namespace flashpad::engines
