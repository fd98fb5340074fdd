// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/measured_choice.hpp"
#include "attention/runner.hpp"
#include "attention/tuned.hpp"
#include "problem/text.hpp"

#include <utility>

namespace flashpad::detail {

/// The kernel that `auto` prefers, and the one that takes the calls whose tensors it cannot address. Both are
/// planned ahead, so that a call allocates nothing whichever takes it.
template <class Exec>
class EitherRunner final : public Runner<Exec> {
 public:
  EitherRunner(std::unique_ptr<Runner<Exec>> first, std::unique_ptr<Runner<Exec>> second)
      : m_first(std::move(first)), m_second(std::move(second)) {
    this->choice = m_first->choice;
    this->choice.workspace_bytes += m_second->choice.workspace_bytes;
  }

  void run(Exec const& exec, Arguments const& arguments) override {
    (m_first->refusal(arguments).empty() ? m_first : m_second)->run(exec, arguments);
  }

 private:
  std::unique_ptr<Runner<Exec>> m_first, m_second;
};

/// What `auto` chooses: hopper where it can and was measured to be faster, else fused. Naive is never chosen:
/// its scores go through memory.
template <class Exec>
std::unique_ptr<Runner<Exec>> make_automatic(Request<Exec> request) {
  Shape const& s = request.shape;
  double const scores = static_cast<double>(s.batch * s.heads) * static_cast<double>(s.seq_q) *
                        static_cast<double>(s.seq_k) * (request.dtype == DType::fp64 ? 8 : 4);
  std::string const naive =
      text("naive passed over: it moves ", scores / 1e6, " MB of scores through memory");
  std::string hopper = hopper_refusal(request);
  Mask const& mask = request.options.mask;
  MeasuredChoice const* const row = measured_choice(s);
  std::string const lead = row != nullptr ? lead_of(*row, s, mask, request.dtype) : "";
  if (hopper.empty() && row != nullptr && row->kernel != Kernel::hopper) hopper = lead;
  request.options.kernel = Kernel::fused;
  auto fused = with_tuned_tile<Exec>(request, make_fused<Exec>);
  if (!hopper.empty()) {
    fused->choice.why =
        text("auto: fused, whose scores stay on chip; ", naive, "; hopper passed over: ", hopper);
    return fused;
  }
  request.options.kernel = Kernel::hopper;
  std::string const engine = fused->choice.engine;
  auto either = std::make_unique<EitherRunner<Exec>>(with_tuned_tile<Exec>(request, make_hopper<Exec>),
                                                     std::move(fused));
  either->choice.why = why_hopper(lead, engine) + "; " + naive;
  return either;
}

}  // namespace flashpad::detail
