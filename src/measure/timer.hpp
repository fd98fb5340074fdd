// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>

namespace flashpad::measure {

/// Times work on an execution space from idle to idle by the host's clock. A backend with device events has
/// its own class with these two members.
template <class Exec>
class FenceTimer {
 public:
  void start(Exec const& exec) {
    exec.fence();
    m_start = std::chrono::steady_clock::now();
  }

  /// Seconds since start, all work on `exec` included.
  double stop(Exec const& exec) {
    exec.fence();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

 private:
  std::chrono::steady_clock::time_point m_start;
};

}  // namespace flashpad::measure
