// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/interrupt.hpp"

#include <signal.h>

#include <csignal>

namespace flashpad::measure {

namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return interrupt_seen != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}

}  // namespace flashpad::measure
