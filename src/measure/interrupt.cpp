// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/interrupt.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

namespace flashpad::measure {

namespace {

volatile std::sig_atomic_t signal_seen = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) { signal_seen = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup = {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // ignored under nohup
}

bool interrupted() { return signal_seen != 0; }

int interrupt_signal() { return signal_seen; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}

int wait_for_child(pid_t child, std::chrono::milliseconds limit) {
  constexpr auto pause = std::chrono::milliseconds(20);
  // Whole milliseconds: no limit is the most of them, of which there are more nanoseconds than fit.
  auto const now = [] {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now());
  };
  auto const start = now();
  bool told = false;
  int status = 0;
  while (true) {
    pid_t const ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (interrupted() && !std::exchange(told, true)) kill(child, SIGTERM);
    if (now() - start >= limit) kill(child, SIGKILL);
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace flashpad::measure
