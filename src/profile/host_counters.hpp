// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashpad::profile {

/// One event of the kernel's performance counters.
struct HostEvent {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::optional<double> Counters::*field = nullptr;
  double weight = 1;     ///< of one count; several events may add up to one field
  bool required = true;  ///< it is never 0 where there are counters, and without it nothing is counted at all
};

/// Cycles, instructions, misses of the last-level cache, and retired floating-point operations where this
/// processor (vendor and family as in /proc/cpuinfo) counts them.
std::vector<HostEvent> host_events(std::string const& vendor, int family);
std::vector<HostEvent> host_events();

/// Counts in user mode over this thread and all that it starts from now on.
class HostCounters {
 public:
  /// Opens the events, not counting yet. Throws Denied, with the cause and what to do, where one that is
  /// required cannot be; where one that is not cannot be, its field stays null, whichever others add to it.
  explicit HostCounters(std::vector<HostEvent> events = host_events());
  ~HostCounters();
  HostCounters(HostCounters const&) = delete;
  HostCounters& operator=(HostCounters const&) = delete;

  void start();
  void stop();
  /// What was counted between start and stop, a call's share. Where there were more events than the processor
  /// has counters, each is scaled up by the time that it was counted for. Throws Error where one that is
  /// required was never counted, or counted nothing; a field of which any other was never counted is null.
  [[nodiscard]] Counters read(std::int64_t calls) const;

 private:
  struct Open {
    HostEvent event;
    int file;  ///< -1 where it could not be opened
  };
  void close();

  std::vector<Open> m_open;
};

}  // namespace flashpad::profile
