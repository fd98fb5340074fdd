// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/callgrind.hpp"

#include "profile/profiler.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

namespace flashpad::profile {
namespace {

using ::testing::HasSubstr;

std::string const head =
    "version: 1\ncreator: callgrind-3.19.0\ndesc: I1 cache: 32768 B, 64 B, 8-way associative\n"
    "desc: D1 cache: 49152 B, 64 B, 12-way associative\ndesc: LL cache: 33554432 B, 128 B, 16-way "
    "associative\n"
    "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw\nsummary: 1 2 3 4 5 6 7 8 9 10 11 12\n";

TEST(Callgrind, AddsUpLinesInAndOut) {
  Counters const counters = read_callgrind(head + "totals: 100 50 20 9 8 7 1 30 5 0 2 3\n", 2);
  EXPECT_EQ(counters.profiler, "callgrind");
  EXPECT_DOUBLE_EQ(*counters.simulated_bytes, (1 + 30 + 5 + 0 + 2 + 3) * 128 / 2.0);
  EXPECT_FALSE(counters.dram_read_bytes.has_value()) << "a simulation is no measurement";
}

TEST(Callgrind, KnowsThatTrailingZerosAreLeftOut) {
  EXPECT_DOUBLE_EQ(*read_callgrind(head + "totals: 100 50 20 9 8 7 1 30\n", 1).simulated_bytes, 31 * 128);
}

TEST(Callgrind, NamesWhatIsMissing) {
  EXPECT_THAT(message_of<Error>([] {
                read_callgrind("desc: LL cache: 1 B, 64 B, 1-way\nevents: Ir Dr\ntotals: 1 2\n", 1);
              }),
              HasSubstr("ILmr"));
  EXPECT_THAT(message_of<Error>([] { read_callgrind("events: Ir\ntotals: 1\n", 1); }),
              HasSubstr("size of a line"));
  EXPECT_THAT(message_of<Error>([] { read_callgrind(head, 1); }), HasSubstr("lacks"));
}

}  // namespace
}  // namespace flashpad::profile
