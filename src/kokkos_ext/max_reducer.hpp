// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

namespace flashpad::kokkos_ext {

/// Maximum that starts from -infinity. Kokkos::Max starts from the lowest finite number, which would come out
/// as the maximum of scores that are all -infinity. A NaN is passed over.
template <class T>
struct MaxReducer {
  using reducer = MaxReducer;
  using value_type = T;
  using result_view_type = Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  KOKKOS_FUNCTION explicit MaxReducer(T& value) : m_value(&value) {}

  KOKKOS_FUNCTION void join(T& to, T const& from) const {
    if (from > to) to = from;
  }
#if KOKKOS_VERSION < 40000
  KOKKOS_FUNCTION void join(T volatile& to, T const volatile& from) const {
    if (from > to) to = from;
  }
#endif
  KOKKOS_FUNCTION void init(T& value) const { value = -Kokkos::Experimental::infinity<T>::value; }
  KOKKOS_FUNCTION T& reference() const { return *m_value; }
  KOKKOS_FUNCTION result_view_type view() const { return result_view_type(m_value); }
  KOKKOS_FUNCTION bool references_scalar() const { return true; }

 private:
  T* m_value;
};

}  // namespace flashpad::kokkos_ext
