// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a case needs, foreseen; copies of the inputs; allocations that fail.
#include "measure/session.hpp"

#include <flashpad/error.hpp>

#include "fake_backend.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <new>
#include <stdexcept>

namespace flashpad::measure {
namespace {

using ::testing::HasSubstr;

class SessionMemory : public ::testing::Test {
 protected:
  Row measure(Case const& one, Settings const& settings = {}) {
    return Session(settings, [this](std::string const&) -> Backend& { return m_fake; }).measure(one);
  }

  FakeBackend m_fake;
};

TEST_F(SessionMemory, ForeseesWhatDoesNotFit) {
  Settings settings;
  settings.memory_limit = 10000;
  Row const row = measure(small_case(), settings);
  EXPECT_EQ(row.status, Status::oom);
  EXPECT_GT(*row.bytes_needed, 10000);
  EXPECT_THAT(row.reason, HasSubstr("allowed by memory_limit"));
  EXPECT_TRUE(m_fake.specs.empty()) << "nothing may be allocated to find out";
  EXPECT_GT(row.byte_ratio.value_or(0), 1) << "the estimate needs no run";
}

TEST_F(SessionMemory, ForeseesSizesThatOverflow) {
  Case one = small_case();
  one.shape.seq_q = one.shape.seq_k = std::int64_t{1} << 40;
  one.shape.batch = std::int64_t{1} << 40;
  Row const row = measure(one);
  EXPECT_EQ(row.status, Status::oom);
  EXPECT_GT(*row.bytes_needed, 1e24);
}

TEST_F(SessionMemory, ForeseesTheMemoryOfADevice) {
  m_fake.device_memory = 1000;
  EXPECT_EQ(measure(small_case()).status, Status::oom);
  m_fake.device_memory = 1e9;
  EXPECT_EQ(measure(small_case()).status, Status::ok);
}

TEST_F(SessionMemory, TakesTheLibrarysWordOnItsWorkspace) {
  m_fake.on_plan = [](RunSpec const&) { throw OutOfMemory("workspace_limit: too small", 1e15); };
  Row const row = measure(small_case());
  EXPECT_EQ(row.status, Status::oom);
  EXPECT_GT(*row.bytes_needed, 1e15);
}

TEST_F(SessionMemory, GivesAKernelTheWorkspaceItCannotDoWithout) {
  m_fake.on_plan = [](RunSpec const& spec) {
    if (spec.options.workspace_limit < 3e8) throw OutOfMemory("workspace_limit: too small", 3e8);
  };
  EXPECT_EQ(measure(small_case()).status, Status::ok);
  EXPECT_DOUBLE_EQ(m_fake.specs.back().options.workspace_limit, 3e8);
}

TEST_F(SessionMemory, GoesRoundCopiesThatPassTheCache) {
  double const inputs = 4.0 * 2 * (4 * 40 * 16 + 2 * 50 * 40);
  m_fake.cache = 2.2 * inputs;
  EXPECT_EQ(measure(small_case()).cache, "cold");
  EXPECT_EQ(m_fake.specs.back().copies, 5);
  EXPECT_THAT(m_fake.timed_copies, ::testing::ElementsAre(2, 3, 4, 0, 1, 2, 3, 4, 0, 1))
      << "after two warm-ups";
}

TEST_F(SessionMemory, SaysSoWhenMemoryIsTooShortForAColdCache) {
  m_fake.cache = 1e9;
  Settings settings;
  settings.memory_limit = 1e6;
  Row const row = measure(small_case(), settings);
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_EQ(row.cache, "warm");
  EXPECT_THAT(row.reason, HasSubstr("cache: warm"));
}

TEST_F(SessionMemory, WarmMeansOneCopy) {
  m_fake.cache = 1e9;
  Settings settings;
  settings.timing.cache = Cache::warm;
  EXPECT_EQ(measure(small_case(), settings).cache, "warm");
  EXPECT_EQ(m_fake.specs.back().copies, 1);
}

TEST_F(SessionMemory, CountsThePaddingOfCopies) {
  Case one = small_case();
  one.shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 1, .seq_k = 1, .head_dim = 16, .value_dim = 16};
  m_fake.cache = 64 * 1024;  // 683 copies of 192 bytes, or 768 with padding
  Settings settings;
  settings.memory_limit = 400 * 1024;
  Row const row = measure(one, settings);
  EXPECT_EQ(row.cache, "warm");
  EXPECT_THAT(row.reason, HasSubstr("memory holds"));
  EXPECT_LE(m_fake.specs.back().copies * 768, 400 * 1024);
  EXPECT_GT(m_fake.specs.back().copies, 400);
}

TEST_F(SessionMemory, MakesNoMoreCopiesThanAFewThousand) {
  Case one = small_case();
  one.shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 1, .seq_k = 1, .head_dim = 16, .value_dim = 16};
  m_fake.cache = 64.0 * 1024 * 1024;
  Row const row = measure(one);
  EXPECT_EQ(m_fake.specs.back().copies, 4096);
  EXPECT_EQ(row.cache, "warm") << "they stay in the cache";
  EXPECT_THAT(row.reason, HasSubstr("no more are made than 4096"));
}

TEST_F(SessionMemory, ALimitThatIsJustEnoughIsStillALimit) {
  Case one = small_case();
  Settings settings;
  settings.timing.cache = Cache::warm;
  settings.memory_limit = 1;
  double const needed = *measure(one, settings).bytes_needed;
  settings.memory_limit = needed;
  EXPECT_EQ(measure(one, settings).status, Status::ok);
  EXPECT_EQ(m_fake.specs.back().options.workspace_limit, 1) << "0 is the library's default";
  settings.memory_limit = needed - 1;
  EXPECT_EQ(measure(one, settings).status, Status::oom);
}

TEST_F(SessionMemory, AProblemWithoutRowsNeedsNothing) {
  for (auto const member : {&Shape::batch, &Shape::heads, &Shape::seq_q}) {
    for (Kernel const kernel : {Kernel::naive, Kernel::fused, Kernel::stats}) {
      Case one = small_case();
      one.kernel = kernel;
      one.shape.seq_q = one.shape.seq_k = 2147483647;
      one.shape.*member = 0;
      Row const row = measure(one);
      EXPECT_EQ(row.status, Status::ok) << row.reason;
      EXPECT_EQ(row.shape, one.shape);
    }
  }
}

TEST_F(SessionMemory, AWindowOverALongSequenceIsForeseenAsItIs) {
  Case one = small_case();
  one.kernel = Kernel::naive;
  one.shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 1, .seq_k = 200000, .head_dim = 16, .value_dim = 16};
  one.mask = Mask::window(10, 0);
  Settings settings;
  settings.memory_limit = 1;
  double const windowed = *measure(one, settings).bytes_needed;
  one.mask = Mask::none();
  EXPECT_DOUBLE_EQ(*measure(one, settings).bytes_needed - windowed, 4 * (200000 - 11));
}

TEST_F(SessionMemory, AFailedAllocationIsOutOfMemory) {
  std::vector<std::function<void()>> const failures = {
      [] { throw std::bad_alloc(); },
      [] { throw std::runtime_error("Kokkos failed to allocate memory for label \"flashpad\".  More."); }};
  for (auto const& fail : failures) {
    m_fake.on_plan = [&](RunSpec const&) { fail(); };
    EXPECT_EQ(measure(small_case()).status, Status::oom);
    m_fake.on_plan = [](RunSpec const&) {};
    m_fake.spoil = [&](Outputs&) { fail(); };
    EXPECT_EQ(measure(small_case()).status, Status::oom);
    m_fake.spoil = [](Outputs&) {};
    m_fake.on_timed_call = fail;
    Row const row = measure(small_case());
    EXPECT_EQ(row.status, Status::oom);
    EXPECT_FALSE(row.median_s.has_value());
    m_fake.on_timed_call = [] {};
  }
}

}  // namespace
}  // namespace flashpad::measure
