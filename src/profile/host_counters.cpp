// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/host_counters.hpp"

#include "profile/profiler.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace flashpad::profile {

namespace {

int open_event(HostEvent const& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL));
}

std::string what_to_do(int cause) {
  if (cause == EACCES || cause == EPERM)
    return "allowed: kernel.perf_event_paranoid of 2 or less, or CAP_PERFMON";
  if (cause == ENOENT || cause == EOPNOTSUPP || cause == ENODEV)
    return "this processor, or the virtual machine around it, has no such counter; allowed: another machine, "
           "or --simulate for callgrind's model of caches";
  if (cause == ENOSYS)
    return "this kernel was built without; allowed: another kernel, or --simulate for callgrind's model of "
           "caches";
  return "allowed: a machine that counts, or --simulate for callgrind's model of caches";
}

// "key : value" of the first processor.
std::string cpu_info(std::string const& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + '\t') && !line.starts_with(key + ' ')) continue;
    std::size_t const at = line.find(": ");
    if (at != std::string::npos) return line.substr(at + 2);
  }
  return {};
}

// Scaled up from the time that the processor had a counter for it; nothing where it never had one.
std::optional<double> counted(int file) {
  struct {
    std::uint64_t value, enabled, running;
  } count{};
  if (file < 0 || ::read(file, &count, sizeof(count)) != static_cast<ssize_t>(sizeof(count)) ||
      count.running == 0)
    return std::nullopt;
  return static_cast<double>(count.value) * static_cast<double>(count.enabled) /
         static_cast<double>(count.running);
}

void add_flops(std::vector<HostEvent>& events, std::string const& what, std::uint64_t config, double weight) {
  events.push_back({what, PERF_TYPE_RAW, config, &Counters::flops, weight, false});
}

}  // namespace

std::vector<HostEvent> host_events(std::string const& vendor, int family) {
  std::vector<HostEvent> events = {
      {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, &Counters::cycles},
      {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, &Counters::instructions},
      {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, &Counters::cache_misses, 1, false},
  };
  if (vendor == "AuthenticAMD" && family >= 0x17) {
    // PMCx003, retired SSE and AVX FLOPs of all kinds; a multiply-add counts two. bfloat16 products have
    // another event and are not in it.
    add_flops(events, "retired FLOPs", 0x0f03, 1);
  } else if (vendor == "GenuineIntel" && family == 6) {
    // FP_ARITH_INST_RETIRED by width: instructions, in which a multiply-add counts two.
    add_flops(events, "scalar", 0x03c7, 1);
    add_flops(events, "2 wide", 0x04c7, 2);
    add_flops(events, "4 wide", 0x18c7, 4);
    add_flops(events, "8 wide", 0x60c7, 8);
    add_flops(events, "16 wide", 0x80c7, 16);
  }
  return events;
}

std::vector<HostEvent> host_events() {
  std::string const family = cpu_info("cpu family");
  return host_events(cpu_info("vendor_id"), family.empty() ? 0 : std::atoi(family.c_str()));
}

HostCounters::HostCounters(std::vector<HostEvent> events) {
  for (HostEvent& event : events) {
    int const file = open_event(event);
    int const cause = errno;
    bool const denied = file < 0 && event.required;
    m_open.push_back({std::move(event), file});
    if (denied) {
      close();
      throw Denied(fmt::format("profile: the kernel gives no hardware counters: {}: {}; {}",
                               m_open.back().event.name, std::strerror(cause), what_to_do(cause)));
    }
  }
}

HostCounters::~HostCounters() { close(); }

void HostCounters::close() {
  for (Open const& open : m_open) {
    if (open.file >= 0) ::close(open.file);
  }
}

void HostCounters::start() {
  for (Open const& open : m_open) {
    if (open.file >= 0) ::ioctl(open.file, PERF_EVENT_IOC_ENABLE, 0);
  }
}

void HostCounters::stop() {
  for (Open const& open : m_open) {
    if (open.file >= 0) ::ioctl(open.file, PERF_EVENT_IOC_DISABLE, 0);
  }
}

Counters HostCounters::read(std::int64_t calls) const {
  Counters counters;
  counters.profiler = "perf_event";
  counters.calls = calls;
  std::vector<std::optional<double> Counters::*> incomplete;
  for (Open const& open : m_open) {
    std::optional<double> const count = counted(open.file);
    if (open.event.required && count.value_or(0) <= 0) {
      throw Error(fmt::format(
          "perf_event: {} {}; allowed: a machine that counts them, with no other profiler at work, or "
          "--simulate for callgrind's model of caches",
          open.event.name, count ? "were counted as 0" : "were never counted in the range"));
    }
    std::optional<double>& field = counters.*open.event.field;
    if (!count) incomplete.push_back(open.event.field);
    field = field.value_or(0) + count.value_or(0) * open.event.weight / static_cast<double>(calls);
  }
  for (auto const field : incomplete) (counters.*field).reset();
  return counters;
}

}  // namespace flashpad::profile
