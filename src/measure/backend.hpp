// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>
#include <flashpad/problem.hpp>
#include <flashpad/types.hpp>

#include "experiment/experiment.hpp"
#include "model/roofline.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashpad::measure {

struct Outputs;

/// What is set up on a backend for one case.
struct RunSpec {
  Shape shape;
  DType dtype = DType::fp32;
  Layout layout = Layout::bhnd;
  Options options;
  std::int64_t copies = 1;  ///< of the inputs, at different addresses
};

/// One case on one backend: a plan and its buffers.
class Runner {
 public:
  virtual ~Runner() = default;

  [[nodiscard]] virtual Choice const& choice() const = 0;
  /// Seconds that making the plan took.
  [[nodiscard]] virtual double plan_seconds() const = 0;
  /// Fills every copy of the inputs; each is a compact tensor in the spec's type and layout.
  virtual void load(std::span<std::byte const> q, std::span<std::byte const> k,
                    std::span<std::byte const> v) = 0;
  /// Every bit of every output set, which is a NaN in all types.
  virtual void fill_outputs_with_nan() = 0;
  /// Enqueues one call. `stats` writes max and sum; the others O and, if asked, LSE.
  virtual void call(std::int64_t copy, bool with_lse) = 0;
  virtual void fence() = 0;
  /// Seconds of one call without LSE, from idle to idle.
  virtual double timed_call(std::int64_t copy) = 0;
  virtual Outputs fetch() = 0;
};

/// What `flashpad info` tells of a backend.
struct BackendInfo {
  std::string name;
  std::string device;  ///< a GPU's name; empty on the host
  int concurrency = 0;
  double scratch_bytes[2] = {0, 0};  ///< most that a team can have, by level
  std::vector<std::string> engines;
};

/// Peaks that were measured so far; 0 where not.
struct KnownPeaks {
  double flops_fp32 = 0, flops_fp64 = 0, flops_bf16 = 0;
  double flops_matrix = 0;    ///< of 16-bit types in a GPU's matrix units
  double read = 0, copy = 0;  ///< bytes a second; of a copy those read and those written

  [[nodiscard]] double bandwidth() const { return read > copy ? read : copy; }
};

/// Which peaks a roof is made of.
struct PeakRequest {
  DType dtype = DType::fp32;
  std::string_view engine = {};  ///< what multiplies: one named after bfloat16, and those on a GPU's
                                 ///< matrix units, have a unit of their own
  std::optional<double> memory_limit =
      std::nullopt;  ///< bytes that measuring may take; unset is what is free
};

/// A kind of place to run: a Kokkos execution space, or a stand-in in tests.
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual BackendInfo info() const = 0;
  /// Free memory of the device; empty where the backend computes in the host's.
  [[nodiscard]] virtual std::optional<double> device_memory_free() const = 0;
  [[nodiscard]] virtual double last_level_cache() const = 0;
  /// Peaks of the unit that computes in this type; 16-bit types compute in float32, but where the engine has
  /// a unit for them. Measured once. Throws Error where memory_limit leaves no room for arrays past the
  /// cache.
  [[nodiscard]] virtual model::Peaks peaks(PeakRequest const& request) = 0;
  [[nodiscard]] virtual KnownPeaks known_peaks() const = 0;
  virtual std::unique_ptr<Runner> prepare(RunSpec const& spec) = 0;
  /// Tells the vendor's profiler that the range it is to count begins, or ends, once all work so far is done.
  virtual void mark_range([[maybe_unused]] bool begin) {}
  /// What a plan for it decides, without inputs or outputs. Throws Error where the library refuses it.
  virtual Choice plan(RunSpec const& spec) { return prepare(spec)->choice(); }
};

/// Names of the backends that this Kokkos has, best first.
std::vector<std::string> available_backends();

/// The backend of that name, or the best for "auto". Throws Error that lists the available ones.
std::string resolve_backend(std::string const& name);

/// As resolve_backend, made once and kept. Needs an initialised Kokkos.
Backend& backend(std::string const& name);

/// Drops what backends keep, before Kokkos is finalised.
void release_backends();

// One maker in each backend's own source file.
std::unique_ptr<Backend> make_serial_backend();
std::unique_ptr<Backend> make_openmp_backend();
std::unique_ptr<Backend> make_threads_backend();
std::unique_ptr<Backend> make_cuda_backend();
std::unique_ptr<Backend> make_hip_backend();

}  // namespace flashpad::measure
