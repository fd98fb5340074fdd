// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/config.hpp>
#include <flashpad/error.hpp>
#include <flashpad/kokkos_ext/hip.hpp>
#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include <flashpad/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace flashpad {

namespace detail {

/// A rank-4 View without its type: what the compiled library sees of it. Strides are in elements; an LSE,
/// max or sum has rank 3 and extent[3] = 1.
struct TensorRef {
  void const* data = nullptr;
  std::int64_t extent[4] = {0, 0, 0, 0};
  std::int64_t stride[4] = {0, 0, 0, 0};
  DType dtype = DType::fp32;
  bool present = false;
};

/// The arguments of one call. Outputs are reached through const pointers here and cast back in one place.
struct Arguments {
  TensorRef q, k, v, o, lse, max, sum;
};

template <class Exec>
class FLASHPAD_EXPORT PlanState;

/// Which execution spaces the library was compiled for.
template <class Exec>
inline constexpr bool is_compiled_in = false;
#ifdef KOKKOS_ENABLE_SERIAL
template <>
inline constexpr bool is_compiled_in<Kokkos::Serial> = true;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
inline constexpr bool is_compiled_in<Kokkos::OpenMP> = true;
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
inline constexpr bool is_compiled_in<Kokkos::Threads> = true;
#endif
#ifdef KOKKOS_ENABLE_CUDA
template <>
inline constexpr bool is_compiled_in<Kokkos::Cuda> = true;
#endif
#ifdef KOKKOS_ENABLE_HIP
template <>
inline constexpr bool is_compiled_in<kokkos_ext::HIP> = true;
#endif

template <class Exec, int Rank, bool Output, class View>
TensorRef reference(View const& view);

}  // namespace detail

/// Attention of one shape, element type and set of options on one kind of execution space: everything that
/// can be decided or allocated ahead of a call. A call allocates nothing and returns before its work is done.
///
/// Lifetime: copies share one state, which owns the workspace. The last copy's destructor waits for the work
/// that still uses the workspace, so a plan may be destroyed right after a call. The caller keeps the Views
/// passed in alive until the execution space instance is fenced. Like any View, a plan must go before
/// Kokkos::finalize.
///
/// Concurrency: a plan may be called from several host threads and on several instances. Where it has a
/// workspace, a call on another instance than the last one first waits for that one; for concurrent work
/// make one plan an instance.
template <class Exec>
class Plan {
  static_assert(Kokkos::is_execution_space<Exec>::value,
                "flashpad::Plan<Exec>: Exec is a Kokkos execution space");
  static_assert(
      detail::is_compiled_in<Exec>,
      "flashpad::Plan<Exec>: the Flashpad library was built with a Kokkos that lacks this execution space");

 public:
  /// Throws Error when Kokkos is not initialised, when the shape, mask or an option is not supported on this
  /// execution space, and OutOfMemory when the workspace does not fit.
  Plan(Exec const& exec, Shape const& shape, DType dtype, Options const& options = {});

  /// O = softmax(scale Q K^T) V on `exec`, asynchronously. Views are rank 4 with last stride 1 (any other
  /// strides), of the plan's element type, accessible from Exec; q, k and v may be const. Throws Error when
  /// an extent or stride does not fit the plan or when o overlaps an input.
  template <class Q, class K, class V, class O>
  void operator()(Exec const& exec, Q const& q, K const& k, V const& v, O const& o) const;

  /// As above, and lse(b, h, i) = log sum_j exp(s_ij) over the visible keys: rank 3, float (double for
  /// fp64), -infinity for a row that sees no key.
  template <class Q, class K, class V, class O, class L>
  void operator()(Exec const& exec, Q const& q, K const& k, V const& v, O const& o, L const& lse) const;

  /// Kernel::stats: max(b, h, i) = max_j s_ij and sum(b, h, i) = sum_j exp(s_ij - max) over the visible keys
  /// (-infinity and 0 for a row that sees none), so that lse = max + log(sum). Rank 3, float (double for
  /// fp64).
  template <class Q, class K, class M, class L>
  void statistics(Exec const& exec, Q const& q, K const& k, M const& max, L const& sum) const;

  /// The call on untyped arguments that are already checked to be accessible from Exec.
  void run(Exec const& exec, detail::Arguments const& arguments) const;

  [[nodiscard]] Shape const& shape() const;
  [[nodiscard]] Choice const& choice() const;

 private:
  std::shared_ptr<detail::PlanState<Exec>> m_state;
};

/// One call without a plan to keep: makes the plan, enqueues the work and, only where the plan has a
/// workspace, waits for it. Shape and element type come from the Views.
template <class Exec, class Q, class K, class V, class O>
void attention(Exec const& exec, Q const& q, K const& k, V const& v, O const& o, Options const& options = {});

template <class Exec, class Q, class K, class V, class O, class L>
  requires(!std::is_same_v<L, Options>)
void attention(Exec const& exec, Q const& q, K const& k, V const& v, O const& o, L const& lse,
               Options const& options = {});

/// Names of the engines that the tiled kernels have on this execution space and machine, best first: of all
/// element types, or of one.
template <class Exec>
std::vector<std::string> engine_names();
template <class Exec>
std::vector<std::string> engine_names(DType dtype);

}  // namespace flashpad

#include <flashpad/detail/attention_impl.hpp>
