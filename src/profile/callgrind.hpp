// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"

#include <cstdint>
#include <string>

namespace flashpad::profile {

/// What a call moved to and from memory in callgrind's model of two levels of caches with write-back, from
/// the text of a profile that it wrote. Throws Error where it lacks the events, has anything but whole
/// numbers, counted no instruction or is not whole.
Counters read_callgrind(std::string const& text, std::int64_t calls);

// Told from inside the program: whether callgrind can be (valgrind's header was there at build time), that
// the caches are to be simulated from now on, that counting begins, and that all ends. Without effect
// elsewhere.
bool callgrind_is_built_in();
void callgrind_warm_up();
void callgrind_begin();
void callgrind_end();

}  // namespace flashpad::profile
