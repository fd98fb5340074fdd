// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/host_counters.hpp"

#include "profile/perf.hpp"
#include "profile/profiler.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <linux/perf_event.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace flashpad::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Events of the kernel's own, which a machine without hardware counters has too.
HostEvent clock_event() {
  return {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, &Counters::cycles};
}

// Of this thread's own time: a machine may be busy with other things.
void work(std::chrono::milliseconds time) {
  auto const now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  auto const until = now() + time;
  while (now() < until) {
  }
}

class HostCountersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      HostCounters const counters({clock_event()});
    } catch (Denied const& denied) {
      GTEST_SKIP() << denied.what();
    }
  }
};

TEST_F(HostCountersTest, CountsBetweenStartAndStop) {
  HostCounters counters({clock_event()});
  work(std::chrono::milliseconds(30));
  counters.start();
  work(std::chrono::milliseconds(20));
  counters.stop();
  double const counted = *counters.read(1).cycles;  // nanoseconds of this clock
  work(std::chrono::milliseconds(30));
  EXPECT_GT(counted, 0);
  EXPECT_LT(counted, 60e6) << "counts outside the range";
  EXPECT_DOUBLE_EQ(*counters.read(1).cycles, counted) << "counts after the range";
  EXPECT_DOUBLE_EQ(*counters.read(4).cycles, counted / 4);
}

TEST_F(HostCountersTest, CountsThreadsStartedLater) {
  HostCounters alone({clock_event()});
  HostCounters counters({clock_event()});
  std::atomic<bool> go = false;
  std::thread worker([&] {
    while (!go) std::this_thread::yield();
    work(std::chrono::milliseconds(40));
  });
  counters.start();
  go = true;
  worker.join();
  counters.stop();
  EXPECT_GT(*counters.read(1).cycles, 5e6) << "this thread slept: what was counted is the other's";
}

TEST_F(HostCountersTest, AddsUpEventsOfOneField) {
  HostEvent twice = clock_event();
  twice.weight = 2;
  HostCounters counters({clock_event(), twice});
  counters.start();
  work(std::chrono::milliseconds(10));
  counters.stop();
  HostCounters one({clock_event()});
  one.start();
  work(std::chrono::milliseconds(10));
  one.stop();
  EXPECT_GT(*counters.read(1).cycles, 1.5 * *one.read(1).cycles);
}

TEST_F(HostCountersTest, LeavesOptionalEventsOut) {
  HostEvent const impossible = {"no-such", PERF_TYPE_SOFTWARE, 9999, &Counters::flops, 1, false};
  HostEvent flops = clock_event();
  flops.field = &Counters::flops;
  for (std::vector<HostEvent> const& events :
       {std::vector{clock_event(), impossible}, std::vector{clock_event(), impossible, flops},
        std::vector{clock_event(), flops, impossible}}) {
    HostCounters counters(events);
    counters.start();
    work(std::chrono::milliseconds(1));
    counters.stop();
    EXPECT_FALSE(counters.read(1).flops.has_value()) << "a sum without one of its terms";
    EXPECT_GT(*counters.read(1).cycles, 0);
  }
}

TEST_F(HostCountersTest, RefusesWhatWasNeverCounted) {
  HostCounters const counters({clock_event()});  // as where another program holds all of the processor's
  EXPECT_THAT(message_of<Error>([&] { static_cast<void>(counters.read(1)); }),
              HasSubstr("task-clock were never counted in the range; allowed: "));
}

TEST_F(HostCountersTest, RefusesCountersThatStandStill) {
  HostEvent const still = {"cycles", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, &Counters::cycles};
  HostCounters counters({still});
  counters.start();
  work(std::chrono::milliseconds(1));
  counters.stop();
  EXPECT_THAT(message_of<Error>([&] { static_cast<void>(counters.read(1)); }),
              HasSubstr("cycles were counted as 0"));
}

TEST(HostCounters, SaysWhatToDoWhereThereAreNone) {
  HostEvent const impossible = {"no-such", 0xffffff, 0, &Counters::cycles};
  std::string const message = message_of<Denied>([&] { HostCounters const counters({impossible}); });
  EXPECT_THAT(message, HasSubstr("no-such"));
  EXPECT_THAT(message, HasSubstr("allowed: "));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

double weight_of_one_fma(std::vector<HostEvent> const& events, char const* width, double elements) {
  for (HostEvent const& event : events) {
    if (event.name == width) return event.weight / elements;
  }
  return 0;
}

TEST(HostEvents, NeedCyclesAndInstructionsAlone) {
  for (HostEvent const& event : host_events("GenuineIntel", 6))
    EXPECT_EQ(event.required, event.name == "cycles" || event.name == "instructions") << event.name;
}

TEST(ReadPerf, ReadsWhatTheChildPrints) {
  Counters const counters =
      read_perf(R"({"cycles": 9, "instructions": 8.5, "cache_misses": 0, "flops_counted": null})", 2);
  EXPECT_EQ(counters.profiler, "perf_event");
  EXPECT_EQ(counters.calls, 2);
  EXPECT_EQ(*counters.cycles, 9);
  EXPECT_EQ(*counters.instructions, 8.5);
  EXPECT_EQ(*counters.cache_misses, 0) << "the caches may hold all";
  EXPECT_FALSE(counters.flops.has_value());
}

TEST(ReadPerf, RefusesWhatIsNoCount) {
  for (char const* nothing : {"{}", R"({"cycles": null, "instructions": null})", R"({"cycles": 5})",
                              R"({"cycles": 0, "instructions": 0, "cache_misses": 0})",
                              R"({"cycles": 5, "instructions": 0})", R"({"cycles": 0, "instructions": 5})"}) {
    EXPECT_THAT(message_of<Error>([&] { read_perf(nothing, 1); }), HasSubstr("no cycles or no instructions"))
        << nothing;
  }
  EXPECT_THAT(message_of<Error>([] { read_perf(R"({"cycles": "9", "instructions": 8})", 1); }),
              HasSubstr("cycles is `\"9\"`"));
  EXPECT_THAT(
      message_of<Error>([] { read_perf(R"({"cycles": 9, "instructions": 8, "cache_misses": -1})", 1); }),
      HasSubstr("cache_misses is `-1`"));
  for (char const* other : {"", "[]", "not JSON", "{\"cycles\": 9,"})
    EXPECT_THAT(message_of<Error>([&] { read_perf(other, 1); }), HasSubstr("in place of counters"));
}

TEST(HostEvents, CountFlopsWhereTheProcessorDoes) {
  std::vector<HostEvent> const intel = host_events("GenuineIntel", 6);
  EXPECT_EQ(weight_of_one_fma(intel, "8 wide", 8), 1);
  EXPECT_EQ(weight_of_one_fma(intel, "16 wide", 16), 1);
  EXPECT_EQ(host_events("AuthenticAMD", 0x19).back().field, &Counters::flops);
  EXPECT_EQ(host_events("SomeoneElse", 6).size(), 3u);
}

}  // namespace
}  // namespace flashpad::profile
