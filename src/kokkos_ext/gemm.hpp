// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <KokkosBlas3_gemm.hpp>

#include <cstdint>

namespace flashpad::kokkos_ext {

/// A matrix of rows `pitch` elements apart, as KokkosBlas::gemm takes it.
template <class Exec, class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::device_type,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Exec, class T>
Matrix<Exec, T> matrix(T* data, std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
  // A LayoutRight View has no pitch of its own; a range of another's columns has.
  Matrix<Exec, T> const whole(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(pitch));
  return Kokkos::subview(whole, Kokkos::ALL(), Kokkos::make_pair(std::int64_t{0}, columns));
}

/// C = alpha op(A) op(B) + beta C on `exec`. Kokkos Kernels before 4.0 takes no instance and uses the default
/// one.
template <class Exec, class A, class B, class C>
void gemm(Exec const& exec, char const* trans_a, char const* trans_b, typename C::non_const_value_type alpha,
          A const& a, B const& b, typename C::non_const_value_type beta, C const& c) {
#if KOKKOS_VERSION >= 40000
  KokkosBlas::gemm(exec, trans_a, trans_b, alpha, a, b, beta, c);
#else
  exec.fence();
  KokkosBlas::gemm(trans_a, trans_b, alpha, a, b, beta, c);
  Exec().fence();
#endif
}

}  // namespace flashpad::kokkos_ext
