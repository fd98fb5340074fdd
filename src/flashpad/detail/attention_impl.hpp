// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Templates of attention.hpp: what must be known of a View's type is checked here, at compile time; all else
// is checked in the library, on untyped references.

#include <flashpad/attention.hpp>

namespace flashpad {

namespace detail {

template <class T>
concept Element = requires { dtype_of<T>::value; };

template <class Exec, int Rank, bool Output, class View>
TensorRef reference(View const& view) {
  static_assert(Kokkos::is_view<View>::value, "flashpad: an argument is not a Kokkos::View");
  static_assert(static_cast<int>(View::rank) == Rank,
                "flashpad: q, k, v and o are Views of rank 4, and lse, max and sum of rank 3");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "flashpad: a View's memory space is not accessible from the execution space");
  static_assert(!Output || !std::is_const_v<typename View::value_type>, "flashpad: an output View is const");
  using Value = std::remove_const_t<typename View::value_type>;
  static_assert(
      Element<Value>,
      "flashpad: element types are double, float, flashpad::half and flashpad::bfloat16, and those that "
      "flashpad::dtype_of is specialised for");
  TensorRef ref;
  ref.data = view.data();
  ref.dtype = dtype_of<Value>::value;
  ref.present = true;
  for (int i = 0; i < 4; ++i) {
    ref.extent[i] = i < Rank ? static_cast<std::int64_t>(view.extent(static_cast<unsigned>(i))) : 1;
    ref.stride[i] = i < Rank ? static_cast<std::int64_t>(view.stride(static_cast<unsigned>(i))) : 1;
  }
  return ref;
}

}  // namespace detail

template <class Exec>
template <class Q, class K, class V, class O>
void Plan<Exec>::operator()(Exec const& exec, Q const& q, K const& k, V const& v, O const& o) const {
  run(exec, {.q = detail::reference<Exec, 4, false>(q),
             .k = detail::reference<Exec, 4, false>(k),
             .v = detail::reference<Exec, 4, false>(v),
             .o = detail::reference<Exec, 4, true>(o),
             .lse = {},
             .max = {},
             .sum = {}});
}

template <class Exec>
template <class Q, class K, class V, class O, class L>
void Plan<Exec>::operator()(Exec const& exec, Q const& q, K const& k, V const& v, O const& o,
                            L const& lse) const {
  run(exec, {.q = detail::reference<Exec, 4, false>(q),
             .k = detail::reference<Exec, 4, false>(k),
             .v = detail::reference<Exec, 4, false>(v),
             .o = detail::reference<Exec, 4, true>(o),
             .lse = detail::reference<Exec, 3, true>(lse),
             .max = {},
             .sum = {}});
}

template <class Exec>
template <class Q, class K, class M, class L>
void Plan<Exec>::statistics(Exec const& exec, Q const& q, K const& k, M const& max, L const& sum) const {
  run(exec, {.q = detail::reference<Exec, 4, false>(q),
             .k = detail::reference<Exec, 4, false>(k),
             .v = {},
             .o = {},
             .lse = {},
             .max = detail::reference<Exec, 3, true>(max),
             .sum = detail::reference<Exec, 3, true>(sum)});
}

namespace detail {

template <class Q, class K, class V>
Shape shape_of(Q const& q, K const& k, V const& v) {
  auto const extent = [](auto const& view, unsigned i) { return static_cast<std::int64_t>(view.extent(i)); };
  return {.batch = extent(q, 0),
          .heads = extent(q, 1),
          .kv_heads = extent(k, 1),
          .seq_q = extent(q, 2),
          .seq_k = extent(k, 2),
          .head_dim = extent(q, 3),
          .value_dim = extent(v, 3)};
}

template <class View>
constexpr DType dtype_of_view() {
  static_assert(Kokkos::is_view<View>::value, "flashpad: an argument is not a Kokkos::View");
  return dtype_of<std::remove_const_t<typename View::value_type>>::value;
}

}  // namespace detail

template <class Exec, class Q, class K, class V, class O>
void attention(Exec const& exec, Q const& q, K const& k, V const& v, O const& o, Options const& options) {
  Plan<Exec> const plan(exec, detail::shape_of(q, k, v), detail::dtype_of_view<Q>(), options);
  plan(exec, q, k, v, o);
}

template <class Exec, class Q, class K, class V, class O, class L>
  requires(!std::is_same_v<L, Options>)
void attention(Exec const& exec, Q const& q, K const& k, V const& v, O const& o, L const& lse,
               Options const& options) {
  Plan<Exec> const plan(exec, detail::shape_of(q, k, v), detail::dtype_of_view<Q>(), options);
  plan(exec, q, k, v, o, lse);
}

}  // namespace flashpad
