// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/session.hpp"

#include "fake_backend.hpp"
#include "tensor_file/npy.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>

namespace flashpad::measure {
namespace {

using ::testing::HasSubstr;

class SessionTest : public ::testing::Test {
 protected:
  Row measure(Case const& one, Settings const& settings = {}) {
    return Session(settings, [this](std::string const&) -> Backend& { return m_fake; }).measure(one);
  }

  FakeBackend m_fake;
};

void set_o(Outputs& outputs, Case const& one, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c,
           double value) {
  auto const stride = strides(extents_of_o(one.shape), one.layout);
  store(outputs.o.data(), one.dtype, b * stride[0] + h * stride[1] + i * stride[2] + c, value);
}

TEST_F(SessionTest, MeasuresACorrectKernel) {
  Row const row = measure(small_case());
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(row.verified, true);
  EXPECT_EQ(row.verified_rows, 2 * 4 * 40);
  EXPECT_DOUBLE_EQ(*row.median_s, 1e-3);
  EXPECT_EQ(row.repetitions, 10);
  EXPECT_GT(*row.first_call_s, 0.5) << "the plan is part of the first call";
  EXPECT_DOUBLE_EQ(*row.flops, 2.0 * 40 * 50 * 40 * 8);
  EXPECT_DOUBLE_EQ(*row.tflops, *row.flops / 1e-3 / 1e12);
  EXPECT_DOUBLE_EQ(*row.intensity, *row.flops / *row.bytes_model);
  EXPECT_EQ(row.roof, "compute") << "15 operations a byte are right of the fake's ridge at 10";
  EXPECT_DOUBLE_EQ(*row.roof_fraction, *row.flops / 1e-3 / 1e12);
  EXPECT_LE(*row.max_abs_err, *row.tolerance);
}

TEST_F(SessionTest, EveryTypeAndLayoutOfACorrectKernelPasses) {
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    for (Layout const layout : {Layout::bhnd, Layout::bnhd}) {
      for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(3, 0)}) {
        Case one = small_case();
        one.dtype = dtype;
        one.layout = layout;
        one.mask = mask;
        Row const row = measure(one);
        EXPECT_EQ(row.status, Status::ok) << name(dtype) << " " << to_string(mask) << ": " << row.reason;
      }
    }
  }
}

TEST_F(SessionTest, FailsOnAnElementThatWasNeverWritten) {
  Case const one = small_case();
  m_fake.spoil = [&](Outputs& o) { set_o(o, one, 1, 2, 3, 4, std::numeric_limits<double>::quiet_NaN()); };
  Row const row = measure(one);
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.verified, false);
  EXPECT_EQ(row.worst, "1,2,3,4");
  EXPECT_THAT(row.reason, HasSubstr("NaN"));
  EXPECT_THAT(row.reason, HasSubstr("hidden whole"));
  EXPECT_FALSE(row.median_s.has_value()) << "a wrong kernel has no time";
}

TEST_F(SessionTest, TheCauseOfAFailureComesFirst) {
  Case const one = small_case();
  m_fake.cache = 1e12;  // more copies than are ever made: the row says that its cache is warm
  m_fake.spoil = [&](Outputs& o) { set_o(o, one, 0, 1, 7, 9, 10.0); };
  Row const wrong = measure(one);
  EXPECT_THAT(wrong.reason, ::testing::StartsWith("O is off by"));
  EXPECT_THAT(wrong.reason, HasSubstr("; cache: warm, because"));
  m_fake.spoil = [](Outputs&) {};
  m_fake.on_timed_call = [] { throw Error("the device went away"); };
  EXPECT_THAT(measure(one).reason, ::testing::StartsWith("the device went away; cache: warm"));
}

TEST_F(SessionTest, FailsOnFiniteButWrong) {
  Case const one = small_case();
  m_fake.spoil = [&](Outputs& o) { set_o(o, one, 0, 1, 7, 9, 10.0); };
  Row const row = measure(one);
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.worst, "0,1,7,9");
  EXPECT_THAT(row.reason, HasSubstr("rescale"));
}

TEST_F(SessionTest, NamesTheTailWhereOnlyTheLastTileIsWrong) {
  Case const one = small_case();
  m_fake.choice.tile = {32, 16};  // rows 32 to 39 are the partial tile
  m_fake.spoil = [&](Outputs& o) {
    set_o(o, one, 0, 0, 33, 0, 10.0);
    set_o(o, one, 1, 3, 39, 5, 10.0);
  };
  EXPECT_THAT(measure(one).reason, HasSubstr("last, partial tile"));
  m_fake.spoil = [&](Outputs& o) {
    set_o(o, one, 0, 0, 33, 0, 10.0);
    set_o(o, one, 1, 3, 31, 5, 10.0);
  };
  EXPECT_THAT(measure(one).reason, HasSubstr("rescale"));
}

TEST_F(SessionTest, FailsOnAWrongLse) {
  m_fake.spoil = [](Outputs& o) { o.lse[17] += 1e-3; };
  Row const row = measure(small_case());
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_THAT(row.reason, HasSubstr("LSE"));
  EXPECT_EQ(row.worst, "0,0,17");
}

TEST_F(SessionTest, FailsWhenATimedCallGivesOtherBits) {
  Case const one = small_case();
  m_fake.spoil_timed = [&](Outputs& o) { set_o(o, one, 0, 0, 0, 0, 0.12345); };
  Row const row = measure(one);
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.verified, false);
  EXPECT_THAT(row.reason, HasSubstr("other bits"));
  EXPECT_FALSE(row.median_s.has_value());
}

TEST_F(SessionTest, FindsANanOutsideTheSample) {
  Case one = small_case();
  one.shape.seq_q = 200;
  m_fake.spoil = [&](Outputs& o) { set_o(o, one, 0, 0, 17, 1, std::numeric_limits<double>::quiet_NaN()); };
  Settings settings;
  settings.verify_budget = 1;
  Row const row = measure(one, settings);
  EXPECT_EQ(row.verified_rows, 64);
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.worst, "0,0,17,1");
}

TEST_F(SessionTest, UnverifiedIsNotVerified) {
  Case const one = small_case();
  m_fake.spoil = [&](Outputs& o) { set_o(o, one, 0, 1, 7, 9, 10.0); };
  Settings settings;
  settings.verify = false;
  Row const row = measure(one, settings);
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_FALSE(row.verified.has_value());
  EXPECT_FALSE(row.max_abs_err.has_value());
}

TEST_F(SessionTest, ARefusedPlanFailsTheRowWithTheReason) {
  m_fake.on_plan = [](RunSpec const&) { throw Error("tile: 4096x64 is too large; allowed: 512"); };
  Row const row = measure(small_case());
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_THAT(row.reason, HasSubstr("tile: 4096x64 is too large; allowed: 512"));
}

TEST_F(SessionTest, EachProblemHasItsOwnInputs) {
  Session session({}, [this](std::string const&) -> Backend& { return m_fake; });
  Case first = small_case();
  Case second = small_case();
  second.problem_key = "second";
  second.seed = 2;
  second.mask = Mask::causal();
  EXPECT_EQ(session.measure(first).status, Status::ok);
  Outputs const of_first = *session.outputs();
  EXPECT_EQ(session.measure(second).status, Status::ok);
  EXPECT_NE(session.outputs()->o, of_first.o);
  first.kernel = Kernel::naive;
  EXPECT_EQ(session.measure(first).status, Status::ok);
  EXPECT_EQ(session.outputs()->o, of_first.o);
}

TEST_F(SessionTest, KeepsOutputsOfAnOkRowOnly) {
  Session session({}, [this](std::string const&) -> Backend& { return m_fake; });
  ASSERT_EQ(session.measure(small_case()).status, Status::ok);
  EXPECT_TRUE(session.outputs().has_value());
  m_fake.spoil = [](Outputs& o) { o.lse[0] = 99; };
  ASSERT_EQ(session.measure(small_case()).status, Status::failed);
  EXPECT_FALSE(session.outputs().has_value());
}

TEST_F(SessionTest, RowsThatSeeNothingAndEmptyProblemsAreFine) {
  Case one = small_case();
  one.shape.seq_k = 0;
  EXPECT_EQ(measure(one).status, Status::ok);
  one.shape.batch = 0;
  one.problem_key = "other";
  Row const row = measure(one);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_FALSE(row.roof.has_value());
}

TEST_F(SessionTest, ANanInAnLseIsTheSameBitsAgain) {
  Case one = small_case();
  one.kernel = Kernel::stats;
  m_fake.spoil = [](Outputs& o) { o.lse[5] = std::numeric_limits<double>::quiet_NaN(); };
  Settings settings;
  settings.verify = false;
  EXPECT_EQ(measure(one, settings).status, Status::ok);
  settings.verify = true;
  m_fake.spoil = [](Outputs&) {};
  m_fake.spoil_timed = [](Outputs& o) { o.lse[5] = std::nextafter(o.lse[5], 100); };
  EXPECT_THAT(measure(one, settings).reason, HasSubstr("other bits"));
}

// With the inputs of a user, NaN is what the definition gives.
TEST_F(SessionTest, AnExpectedNanInAnLseIsVerified) {
  std::filesystem::path const folder = ::testing::TempDir();
  Case one = small_case();
  one.kernel = Kernel::stats;
  std::vector<std::filesystem::path> files;
  for (auto const& [name, e] :
       {std::pair{"q", extents_of_q(one.shape)}, std::pair{"k", extents_of_k(one.shape)},
        std::pair{"v", extents_of_v(one.shape)}}) {
    std::vector<double> values(static_cast<std::size_t>(e.count()), 0.5);
    if (files.empty()) values[0] = std::numeric_limits<double>::quiet_NaN();
    files.push_back(folder / (std::string("flashpad_session_") + name + ".npy"));
    write_npy(files.back(), {e.batch, e.heads, e.rows, e.columns}, one.dtype,
              pack(values, e, one.dtype, one.layout));
  }
  one.tensors = TensorFiles{files[0], files[1], files[2]};
  Row const row = measure(one);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  for (auto const& file : files) std::filesystem::remove(file);
}

TEST_F(SessionTest, AnyExceptionWhileTimingIsThisRows) {
  m_fake.on_timed_call = [] { throw std::runtime_error("the device went away\nand more"); };
  Row const row = measure(small_case());
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_THAT(row.reason, ::testing::EndsWith("the device went away"));
}

TEST_F(SessionTest, WithoutPeaksThereIsATimeAndNoRoof) {
  m_fake.on_peaks = [] { throw std::bad_alloc(); };
  Row const row = measure(small_case());
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_TRUE(row.tflops.has_value());
  EXPECT_TRUE(row.intensity.has_value());
  EXPECT_FALSE(row.roof.has_value());
  EXPECT_FALSE(row.roof_fraction.has_value());
  EXPECT_THAT(row.reason, HasSubstr("no roof"));
}

TEST_F(SessionTest, PeaksAreNotMeasuredWhereNobodyAsksForARoof) {
  m_fake.on_peaks = [] { FAIL() << "peaks were asked for"; };
  Settings settings;
  settings.roofs = false;
  Row const row = measure(small_case(), settings);
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_TRUE(row.tflops.has_value());
  EXPECT_FALSE(row.roof.has_value());
  EXPECT_EQ(row.reason, "");
}

}  // namespace
}  // namespace flashpad::measure
