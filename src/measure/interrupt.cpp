// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/interrupt.hpp"

#include <signal.h>

#include <csignal>

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
}

bool interrupted() { return signal_seen != 0; }

int interrupt_signal() { return signal_seen; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}

}  // namespace flashpad::measure
