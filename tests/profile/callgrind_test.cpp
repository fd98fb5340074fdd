// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/callgrind.hpp"

#include "profile/profiler.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

namespace flashpad::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string const head =
    "version: 1\ncreator: callgrind-3.19.0\ndesc: I1 cache: 32768 B, 64 B, 8-way associative\n"
    "desc: D1 cache: 49152 B, 64 B, 12-way associative\ndesc: LL cache: 33554432 B, 128 B, 16-way "
    "associative\n"
    "positions: line\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw\n"
    "summary: 18446744073709387668 2 3\n";

/// A whole file: two functions, of which the first calls the second, add up to the totals.
std::string const lines =
    "fn=(1) attention\n16 60 30 20 5 4 3 1 20 5 0 2 3\ncfn=(2)\ncalls=1 30\n16 40 20 0 4 4 4 0 10\n\n"
    "fn=(2) product\n+14 30 20 0 4 4 4\n* 10 0 0 0 0 0 0 10\n\n";

std::string const totals = "totals: 100 50 20 9 8 7 1 30 5 0 2 3\n";

std::string error_of(std::string const& text) {
  return message_of<Error>([&] { read_callgrind(text, 1); });
}

TEST(Callgrind, AddsUpLinesInAndOut) {
  Counters const counters = read_callgrind(head + lines + totals, 2);
  EXPECT_EQ(counters.profiler, "callgrind");
  EXPECT_DOUBLE_EQ(*counters.simulated_bytes, (1 + 30 + 5 + 0 + 2 + 3) * 128 / 2.0);
  EXPECT_FALSE(counters.dram_read_bytes.has_value()) << "a simulation is no measurement";
}

TEST(Callgrind, KnowsThatTrailingZerosAreLeftOut) {
  EXPECT_DOUBLE_EQ(
      *read_callgrind(head + "16 100 50 20 9 8 7 1 30\ntotals: 100 50 20 9 8 7 1 30\n", 1).simulated_bytes,
      31 * 128);
  EXPECT_DOUBLE_EQ(*read_callgrind(head + "16 100 50 20\ntotals: 100 50 20\n", 1).simulated_bytes, 0)
      << "all of it was in the caches";
}

TEST(Callgrind, NamesWhatIsMissing) {
  EXPECT_THAT(error_of("desc: LL cache: 64 B, 64 B, 1-way\nevents: Ir Dr\n1 1 2\ntotals: 1 2\n"),
              HasSubstr("lacks ILmr"));
  EXPECT_THAT(error_of("events: Ir\n1 1\ntotals: 1\n"), HasSubstr("size of a line"));
  EXPECT_THAT(error_of(head + lines), HasSubstr("lacks totals"));
  EXPECT_THAT(error_of(""), HasSubstr("lacks"));
}

TEST(Callgrind, RefusesAFileThatIsCutShort) {
  std::string const whole = head + lines + totals;
  // Up to the last number but one: without that, and the line's end, nothing is missing.
  for (std::size_t end = head.size(); end < whole.size() - 2; ++end)
    EXPECT_THROW(read_callgrind(whole.substr(0, end), 1), Error) << whole.substr(0, end);
  EXPECT_THAT(error_of(head + lines + "totals: 1 2 3\n"), HasSubstr("not whole"));
  EXPECT_THAT(error_of(head + "totals: 100 50 20\n"), HasSubstr("not whole")) << "no lines at all";
}

TEST(Callgrind, RefusesWhatIsNoWholeNumber) {
  for (std::string const bad :
       {"abc", "-5", "1.234,5", "1,5", "1.5", "0x10", "1e3", "nan", "+1", "99999999999999999999999"}) {
    EXPECT_THAT(error_of(head + lines + "totals: 1 1 1 1 1 1 " + bad + "\n"), HasSubstr("`" + bad + "`"));
    EXPECT_THAT(error_of(head + "16 1 1 1 1 1 1 " + bad + "\n" + totals), HasSubstr("`" + bad + "`"));
  }
  EXPECT_THAT(error_of(head + lines + "totals: 1 1 1 1 1 1 1 1 1 1 1 1 1\n"), HasSubstr("each of 12 events"));
}

TEST(Callgrind, RefusesARangeWithoutAnInstruction) {
  for (std::string const none : {"totals:\n", "totals: 0\n", "totals: 0 0 0 0 0 0 0 0 0 0 0 0\n"})
    EXPECT_THAT(error_of(head + none), HasSubstr("no instruction"));
}

TEST(Callgrind, RefusesACacheThatItCannotRead) {
  std::string const rest =
      "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw\n" + lines + totals;
  for (std::string const sizes : {"32 KB, 64 KB, 16-way", "33554432 B", "33554432, 64", ""})
    EXPECT_THAT(error_of("desc: LL cache: " + sizes + "\n" + rest), HasSubstr("no sizes in bytes"));
  EXPECT_THAT(error_of("desc: LL cache: 1.5 B, 64 B, 16-way\n" + rest), HasSubstr("`1.5`"));
  EXPECT_THAT(error_of("desc: LL cache: 33554432 B, -64 B, 16-way\n" + rest), HasSubstr("`-64`"));
  EXPECT_THAT(error_of("desc: LL cache: 33554432 B, 0 B, 16-way\n" + rest), HasSubstr("size of a line"));
  EXPECT_THAT(error_of("desc: LL cache: 64 B, 33554432 B, 16-way\n" + rest), HasSubstr("has lines of"));
}

TEST(Callgrind, RefusesGarbage) {
  std::string noise;
  for (unsigned i = 0, x = 1; i < 5000; ++i)
    noise += static_cast<char>((x = x * 1103515245U + 12345U) >> 24U);
  EXPECT_THROW(read_callgrind(noise, 1), Error);
  std::string const wrong = error_of(head + "1 \x1b[31m" + std::string(100'000, 'x') + "\n");
  EXPECT_LT(wrong.size(), 300u);
  EXPECT_THAT(wrong, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace flashpad::profile
