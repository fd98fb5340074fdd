// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace flashpad::measure {

/// Thrown between repetitions and rows once the user has pressed Ctrl-C.
struct Interrupted {};

/// From now on the first SIGINT is remembered, and a second one ends the program.
void catch_interrupts();

[[nodiscard]] bool interrupted();

/// Throws Interrupted when interrupted().
void stop_if_interrupted();

}  // namespace flashpad::measure
