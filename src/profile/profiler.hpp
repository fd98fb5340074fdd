// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/error.hpp>

#include "profile/command.hpp"
#include "report/row.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace flashpad::profile {

/// Nothing can be counted here at all, as opposed to one case that fails: ends the command.
class Denied : public Error {
 public:
  using Error::Error;
};

/// How the measured range of a child process is told apart from what comes before it.
enum class Range : std::uint8_t {
  device,     ///< the backend marks it for the vendor's profiler
  perf,       ///< the child reads the processor's counters itself
  callgrind,  ///< the child tells valgrind
};

std::string_view name(Range range) noexcept;

/// Runs this program under a profiler, or by itself where it does its own counting, and reads what was
/// counted.
class Profiler {
 public:
  virtual ~Profiler() = default;

  /// "ncu", and so on, and what it says of its version.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual Range range() const = 0;
  /// Counters of one call of `calls` in the range of `child`. Throws Denied where counters are refused, Error
  /// where this child failed or the profiler's output lacks what was asked for.
  [[nodiscard]] virtual Counters count(Command const& child, std::int64_t calls) const = 0;
};

/// What the command line says of profilers.
struct Choice {
  std::string program;  ///< name or path in place of the vendor's
  std::string replay = "app-range";
  bool simulate = false;
};

// One file each. All throw Denied, with what to do, where the program is missing.
std::unique_ptr<Profiler> make_ncu(Choice const& choice);
std::unique_ptr<Profiler> make_rocprof(Choice const& choice);
std::unique_ptr<Profiler> make_perf(Choice const& choice);
std::unique_ptr<Profiler> make_callgrind(Choice const& choice);

/// The profiler for a backend.
std::unique_ptr<Profiler> make_profiler(std::string const& backend, Choice const& choice);

}  // namespace flashpad::profile
