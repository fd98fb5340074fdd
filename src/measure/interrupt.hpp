// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <chrono>

namespace flashpad::measure {

/// Thrown between repetitions and rows once the user has pressed Ctrl-C, or a SIGTERM has come.
struct Interrupted {};

/// From now on the first SIGINT or SIGTERM is remembered, and a second one of a kind ends the program.
void catch_interrupts();

[[nodiscard]] bool interrupted();

/// The signal that was remembered last; 0 where none was.
[[nodiscard]] int interrupt_signal();

/// Throws Interrupted when interrupted().
void stop_if_interrupted();

/// waitpid's status of a child; -1 and errno where there is none to wait for. Ctrl-C of a terminal reaches
/// the child as well; a signal to this process alone is passed on, once. A child that is not done within
/// `limit` is killed.
int wait_for_child(pid_t child, std::chrono::milliseconds limit = std::chrono::milliseconds::max());

}  // namespace flashpad::measure
