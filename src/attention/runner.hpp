// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/attention.hpp>

#include <memory>
#include <string>

namespace flashpad::detail {

/// What a kernel is asked to plan for. The shape, mask and options are valid; scale is resolved.
template <class Exec>
struct Request {
  Exec exec;
  Shape shape;
  DType dtype = DType::fp32;
  Options options;
  double scale = 1;
};

/// A kernel, planned for one request: all choices made, all memory allocated.
template <class Exec>
class Runner {
 public:
  Runner() = default;
  Runner(Runner const&) = delete;
  Runner& operator=(Runner const&) = delete;
  virtual ~Runner() = default;

  /// Why it cannot take these tensors, which fit the plan in all else: their addresses or strides, as one
  /// line that names the argument. Empty where it can.
  [[nodiscard]] virtual std::string refusal(Arguments const&) const { return {}; }

  /// Enqueues the work on `exec`. Arguments are checked and not refused; no extent is zero but seq_k.
  virtual void run(Exec const& exec, Arguments const& arguments) = 0;

  Choice choice;
};

// The kernels: one maker each, in kernels/<name>/. To add one: a maker here, a line in make_runner, a name in
// options.cpp.
template <class Exec>
std::unique_ptr<Runner<Exec>> make_naive(Request<Exec> const& request);
template <class Exec>
std::unique_ptr<Runner<Exec>> make_naive_vendor(Request<Exec> const& request);
template <class Exec>
std::unique_ptr<Runner<Exec>> make_fused(Request<Exec> const& request);
template <class Exec>
std::unique_ptr<Runner<Exec>> make_hopper(Request<Exec> const& request);

/// Why make_hopper would throw; empty where it would not.
template <class Exec>
std::string hopper_refusal(Request<Exec> const& request);

}  // namespace flashpad::detail
