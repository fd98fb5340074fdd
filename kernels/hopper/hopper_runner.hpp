// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/arguments.hpp"
#include "attention/runner.hpp"
#include "kokkos_ext/execution.hpp"
#include "kokkos_ext/labelled.hpp"
#include "kokkos_ext/streams.hpp"
#include "problem/text.hpp"

#ifdef FLASHPAD_HAS_HOPPER
#include "kernels/hopper/hopper.hpp"
#endif

#include <string>

namespace flashpad::detail {

#if defined(FLASHPAD_HAS_HOPPER) && defined(KOKKOS_ENABLE_CUDA)

/// A planned call of the Hopper kernel. The workspace serves one launch after another, which PlanState
/// sees to.
class HopperRunner final : public Runner<Kokkos::Cuda> {
 public:
  explicit HopperRunner(Request<Kokkos::Cuda> const& request) : m_call(call_of(request)) {
    auto const bytes = static_cast<std::size_t>(hopper::hopper_workspace(m_call));
    double const limit = request.options.workspace_limit;
    if (limit > 0 && static_cast<double>(bytes) > limit) {
      throw OutOfMemory(text("workspace_limit: hopper needs ", bytes, " bytes; allowed: ", limit),
                        static_cast<double>(bytes));
    }
    m_workspace = kokkos_ext::allocate(request.exec, "flashpad::hopper::workspace", bytes);
    Kokkos::deep_copy(request.exec, m_workspace, 0);
    request.exec.fence("flashpad::hopper: its workspace is zero for every instance");
    m_call.workspace = m_workspace.data();
    this->choice.kernel = Kernel::hopper;
    this->choice.engine = "wgmma";
    this->choice.workspace_bytes = static_cast<double>(bytes);
    describe_tile();
  }

  /// What can be said before there are tensors: as if they were contiguous.
  static hopper::HopperCall call_of(Request<Kokkos::Cuda> const& request) {
    Shape const& s = request.shape;
    hopper::HopperCall call;
    call.shape = s;
    call.dtype = request.dtype;
    call.mask = request.options.mask;
    call.scale = request.scale;
    call.tile = request.options.tile;
    call.stages = request.options.stages;
    call.multiprocessors = request.exec.cuda_device_prop().multiProcessorCount;
    auto const contiguous = [&](std::int64_t heads, std::int64_t rows, std::int64_t columns) {
      std::int64_t const row = columns * size_of(request.dtype);
      return Operand{nullptr, heads * rows * row, rows * row, row};
    };
    call.q = contiguous(s.heads, s.seq_q, s.head_dim);
    call.k = contiguous(s.kv_heads, s.seq_k, s.head_dim);
    call.v = contiguous(s.kv_heads, s.seq_k, s.value_dim);
    call.o = contiguous(s.heads, s.seq_q, s.value_dim);
    return call;
  }

  [[nodiscard]] std::string refusal(Arguments const& arguments) const override {
    return hopper::hopper_refusal(with(arguments));
  }

  void run(Kokkos::Cuda const& exec, Arguments const& arguments) override {
    hopper::HopperCall const call = with(arguments);
    cudaSetDevice(exec.cuda_device());  // as Kokkos does for its own launches
    try {
      kokkos_ext::labelled(exec, "flashpad::hopper",
                           [&] { launch_hopper(call, kokkos_ext::stream_of(exec)); });
    } catch (std::runtime_error const& error) {
      throw Error(error.what());
    }
  }

 private:
  /// The tile that launch_hopper will take.
  void describe_tile() {
    for (hopper::HopperTiling const& tiling : hopper::hopper_tilings(m_call)) {
      if (!hopper::is_asked_for(m_call, tiling)) continue;
      this->choice.tile = tiling.tile;
      this->choice.stages = tiling.stages;
      this->choice.heads_per_tile = tiling.heads;
      return;
    }
  }

  [[nodiscard]] hopper::HopperCall with(Arguments const& arguments) const {
    hopper::HopperCall call = m_call;
    call.q = operand(arguments.q);
    call.k = operand(arguments.k);
    call.v = operand(arguments.v);
    call.o = operand(arguments.o);
    if (arguments.lse.present) call.lse = operand(arguments.lse);
    return call;
  }

  hopper::HopperCall m_call;
  kokkos_ext::Bytes<Kokkos::Cuda> m_workspace;
};

#endif

/// Why hopper cannot serve a request, as one line that begins with the option or argument at fault; empty
/// where it can, for tensors that the copy engine can address (Runner::refusal).
template <class Exec>
std::string hopper_refusal([[maybe_unused]] Request<Exec> const& request) {
#if defined(FLASHPAD_HAS_HOPPER) && defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    cudaDeviceProp const& device = request.exec.cuda_device_prop();
    if (device.major != 9) {
      return text("kernel: hopper needs a GPU of compute capability 9.0; this one (", device.name, ") has ",
                  device.major, ".", device.minor);
    }
    Options const& o = request.options;
    if (!o.engine.empty()) return text("engine: `", o.engine, "` is not for hopper; allowed: unset");
    if (o.team_size != 0) return text("team_size: ", o.team_size, " is not for hopper; allowed: unset");
    if (o.splits > 1) return text("splits: ", o.splits, " is not for hopper; allowed: unset, or 1");
    if (!o.skip_hidden_tiles) return "skip_hidden_tiles: false is not for hopper; allowed: true";
    return hopper::hopper_refusal(HopperRunner::call_of(request));
  }
#endif
  return text(
      "kernel: hopper is not available on ", Exec::name(),
      "; it needs an NVIDIA GPU of compute capability 9.0, and a library built with CUDA 12 or newer");
}

template <class Exec>
std::unique_ptr<Runner<Exec>> make_hopper([[maybe_unused]] Request<Exec> const& request) {
  std::string const refusal = hopper_refusal(request);
  if (!refusal.empty()) throw Error(refusal);
#if defined(FLASHPAD_HAS_HOPPER) && defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) return std::make_unique<HopperRunner>(request);
#endif
  return nullptr;  // refused above
}

}  // namespace flashpad::detail
