// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/runner.hpp"
#include "attention/tuned.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
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

/// One row of what was measured: the kernel that was fastest up to these sizes on GPUs of one generation.
struct MeasuredChoice {
  std::int64_t most_dim;
  std::int64_t most_keys;
  Kernel kernel;
  char const* lead;
};

/// For 16-bit types on compute capability 9.0; the first row that fits holds. bf16 on an H200, with d from 32
/// to 256, N from 128 to 8192, full and causal, 16384 tokens and one batch entry (docs/hopper.md, "What auto
/// takes").
inline constexpr MeasuredChoice measured_on_hopper[] = {
    {32, 128, Kernel::fused, "1.05 to 1.08 times hopper up to d = 32 and 128 keys"},
    {256, std::numeric_limits<std::int64_t>::max(), Kernel::hopper, "1.0 to 3.9 times fused"},
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
  auto const* const row = std::find_if(
      std::begin(measured_on_hopper), std::end(measured_on_hopper), [&](MeasuredChoice const& each) {
        return std::max(s.head_dim, s.value_dim) <= each.most_dim && s.seq_k <= each.most_keys;
      });
  bool const known = row != std::end(measured_on_hopper);
  if (hopper.empty() && known && row->kernel != Kernel::hopper) {
    hopper = text("measured: fused is ", row->lead);
  }
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
  either->choice.why =
      text("auto: hopper", known ? ", measured " : "", known ? row->lead : "", "; fused (", engine,
           ") takes calls with tensors that hopper's copy engine cannot address; ", naive);
  return either;
}

}  // namespace flashpad::detail
