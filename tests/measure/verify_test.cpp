// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/verify.hpp"

#include "fake_backend.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace flashpad::measure {
namespace {

Expected plain_expected(double value_max, double rounding_error, double output_max) {
  Expected expected;
  expected.value_max = value_max;
  expected.rounding_error = rounding_error;
  expected.output_max = output_max;
  return expected;
}

TEST(Tolerance, ScalesWithValuesAboveOne) {
  EXPECT_DOUBLE_EQ(tolerance(Kernel::fused, DType::fp64, plain_expected(0.1, 0, 0.1)), 1e-12);
  EXPECT_DOUBLE_EQ(tolerance(Kernel::fused, DType::fp32, plain_expected(0.1, 0, 0.1)), 2e-5);
  EXPECT_DOUBLE_EQ(tolerance(Kernel::fused, DType::fp32, plain_expected(5, 0, 0.1)), 1e-4);
}

TEST(Tolerance, OfSixteenBitsIsWhatThePlainEvaluationCosts) {
  // Units in the last place of 0.75: 2^-11 and 2^-8.
  EXPECT_DOUBLE_EQ(tolerance(Kernel::fused, DType::fp16, plain_expected(1, 1e-3, 0.75)), 2e-3 + 0x1p-11);
  EXPECT_DOUBLE_EQ(tolerance(Kernel::fused, DType::bf16, plain_expected(1, 4e-3, 0.75)), 8e-3 + 0x1p-8);
}

// The unit in the last place of 0 is the least number of the type.
TEST(Tolerance, IsNeverNothing) {
  EXPECT_EQ(tolerance(Kernel::fused, DType::fp16, plain_expected(0, 0, 0)), 0x1p-24);
  EXPECT_EQ(tolerance(Kernel::fused, DType::bf16, plain_expected(0, 0, 0)), 0x1p-133);
  EXPECT_EQ(tolerance(Kernel::fused, DType::fp16, plain_expected(1, 0, 0x1p-20)), 0x1p-24);
}

TEST(Tolerance, OfSixteenBitsHasAnOuterBound) {
  EXPECT_DOUBLE_EQ(tolerance(Kernel::fused, DType::fp16, plain_expected(1, 1, 1)), 2e-2);
  EXPECT_DOUBLE_EQ(tolerance(Kernel::fused, DType::bf16, plain_expected(3, 1, 1)), 15e-2);
}

TEST(PlainRow, RoundsProbabilitiesAndOutput) {
  Case one = small_case();
  one.dtype = DType::bf16;
  Inputs const inputs = make_inputs(one);
  std::vector<double> rough(24);
  std::vector<double> exact(24);
  plain_row(one, inputs, {1, 3, 39}, rough.data());
  Case wide = one;
  wide.dtype = DType::fp64;
  plain_row(wide, inputs, {1, 3, 39}, exact.data());
  Expected const expected = make_expected(one, inputs, {{1, 3, 39}});
  double largest = 0;
  for (std::size_t c = 0; c < 24; ++c) {
    EXPECT_EQ(rough[c], rounded(rough[c], DType::bf16));
    EXPECT_NEAR(exact[c], expected.o[c], 1e-14) << "the reference agrees with a plain evaluation";
    largest = std::max(largest, std::fabs(rough[c] - expected.o[c]));
  }
  EXPECT_GT(largest, 0);
  std::vector<double> only_o_rounded = exact;
  for (double& value : only_o_rounded) value = rounded(value, DType::bf16);
  EXPECT_NE(rough, only_o_rounded) << "P was not rounded";
  EXPECT_DOUBLE_EQ(expected.rounding_error, largest);
}

// Garbage in keys that no row sees must not widen the tolerance.
TEST(Expected, ValuesOfHiddenKeysDoNotCount) {
  Case one = small_case();
  one.shape.seq_q = 10;  // causal: keys up to 40 + i; window(5, 0) hides keys 0 to 34 from every row
  one.mask = Mask::window(5, 0);
  Inputs inputs = make_inputs(one);
  inputs.v[0] = 1e6;
  inputs.v[34 * 24] = 1e6;
  EXPECT_LT(make_expected(one, inputs, {{0, 0, 0}}).value_max, 10);
  inputs.v[35 * 24] = 1e6;
  EXPECT_EQ(make_expected(one, inputs, {{0, 0, 0}}).value_max, 1e6);
}

TEST(Verify, TakesNanForNan) {
  Case const one = small_case();
  Inputs inputs = make_inputs(one);
  inputs.q[0] = std::numeric_limits<double>::quiet_NaN();
  inputs.finite = false;
  Expected const expected = make_expected(one, inputs, {{0, 0, 0}, {0, 0, 1}});
  Outputs outputs;
  std::vector<double> o(2 * 4 * 40 * 24, 0.0);
  for (std::size_t c = 0; c < 48; ++c) o[c] = expected.o[c];
  outputs.o = pack(o, extents_of_o(one.shape), one.dtype, one.layout);
  outputs.lse.assign(2 * 4 * 40, 0.0);
  outputs.lse[0] = expected.lse[0];
  outputs.lse[1] = expected.lse[1];
  EXPECT_TRUE(std::isnan(expected.o[0]));
  EXPECT_FALSE(verify(one, inputs, expected, outputs, {}).symptom.has_value());
  o[0] = 1;  // a number where the reference has NaN is wrong, too
  outputs.o = pack(o, extents_of_o(one.shape), one.dtype, one.layout);
  EXPECT_TRUE(verify(one, inputs, expected, outputs, {}).symptom.has_value());
}

// Inputs, and outputs that agree with the reference to the bit.
struct Agreeing {
  explicit Agreeing(Case const& one, Inputs const& given)
      : inputs(given), expected(make_expected(one, inputs, rows_to_verify(one.shape))) {
    outputs.o = pack(expected.o, extents_of_o(one.shape), one.dtype, one.layout);
    outputs.lse = expected.lse;
  }
  Inputs inputs;
  Expected expected;
  Outputs outputs;
};

TEST(Verify, SaysHowMuchOfTheReferenceIsNotFinite) {
  Case const one = small_case();
  Inputs inputs = make_inputs(one);
  inputs.q[0] = std::numeric_limits<double>::infinity();
  inputs.v[0] = std::numeric_limits<double>::infinity();  // of the first batch's first head of keys
  inputs.finite = false;
  Agreeing const agreeing(one, inputs);
  Verdict const verdict = verify(one, inputs, agreeing.expected, agreeing.outputs, {});
  EXPECT_FALSE(verdict.symptom.has_value()) << verdict.reason;
  // 24 NaN of the first row, and the first column of the 79 other rows of two heads.
  EXPECT_EQ(verdict.note, "103 of 7680 values of O in the reference are not finite (24 NaN, 79 infinite)");
  EXPECT_GT(*verdict.tolerance, 0);
  Inputs const plain = make_inputs(one);
  Agreeing const all(one, plain);
  EXPECT_EQ(verify(one, plain, all.expected, all.outputs, {}).note, "");
}

TEST(Verify, WithoutAFiniteValueNothingIsVerified) {
  for (Kernel const kernel : {Kernel::fused, Kernel::stats}) {
    for (DType const dtype : {DType::fp32, DType::fp16}) {
      Case one = small_case();
      one.kernel = kernel;
      one.dtype = dtype;
      Inputs inputs = make_inputs(one);
      for (double& q : inputs.q) q = std::numeric_limits<double>::quiet_NaN();
      inputs.finite = false;
      Agreeing const agreeing(one, inputs);
      Verdict const verdict = verify(one, inputs, agreeing.expected, agreeing.outputs, {});
      EXPECT_EQ(verdict.symptom, report::Symptom::nothing_finite);
      EXPECT_THAT(verdict.reason, ::testing::StartsWith("nothing was verified; likely cause: NaN"));
      EXPECT_THAT(verdict.note, ::testing::HasSubstr(kernel == Kernel::stats ? "320 of 320 values of LSE"
                                                                             : "7680 of 7680 values of O"));
      EXPECT_FALSE(verdict.max_abs_err.has_value());
      EXPECT_FALSE(verdict.tolerance.has_value());
    }
  }
}

TEST(Verify, RowsThatSeeNothingAreVerified) {
  for (Kernel const kernel : {Kernel::fused, Kernel::stats}) {
    Case one = small_case();
    one.kernel = kernel;
    one.dtype = DType::fp16;
    one.shape.seq_k = 0;
    Agreeing const agreeing(one, make_inputs(one));
    Verdict const verdict = verify(one, agreeing.inputs, agreeing.expected, agreeing.outputs, {});
    EXPECT_FALSE(verdict.symptom.has_value()) << verdict.reason;
    EXPECT_EQ(verdict.note, "");
  }
}

TEST(Verify, TakesMinusInfinityForMinusInfinity) {
  Case one = small_case();
  one.kernel = Kernel::stats;
  one.shape.seq_k = 20;
  one.mask = Mask::causal();  // the first 20 rows see nothing
  Inputs const inputs = make_inputs(one);
  Expected const expected = make_expected(one, inputs, rows_to_verify(one.shape));
  Outputs outputs;
  outputs.lse = expected.lse;
  EXPECT_EQ(expected.lse[0], -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(verify(one, inputs, expected, outputs, {}).symptom.has_value());
  EXPECT_FALSE(verify(one, inputs, expected, outputs, {}).max_abs_err.has_value());
  outputs.lse[0] = -1e30;
  EXPECT_TRUE(verify(one, inputs, expected, outputs, {}).symptom.has_value());
}

// O as the reference has it, but for one element.
Verdict with_one_wrong(Case const& one, Expected const& expected, double wrong) {
  Outputs outputs;
  std::vector<double> o = expected.o;
  o[5] = wrong;
  outputs.o = pack(o, extents_of_o(one.shape), one.dtype, one.layout);
  outputs.lse = expected.lse;
  Inputs inputs;
  return verify(one, inputs, expected, outputs, {});
}

TEST(Verify, LargeScoresThatRoundAreNamedAsSuch) {
  Case one = small_case();
  one.scale = 60;
  Inputs const inputs = make_inputs(one);
  Expected const expected = make_expected(one, inputs, rows_to_verify(one.shape));
  EXPECT_GT(expected.score_max, 500);
  double const rounding = 4 * 0x1p-24 * expected.score_max * expected.value_max;
  double const bound = tolerance(Kernel::fused, DType::fp32, expected);
  ASSERT_GT(rounding, 2 * bound);
  Verdict const rounded = with_one_wrong(one, expected, expected.o[5] + rounding / 2);
  EXPECT_EQ(rounded.symptom, report::Symptom::scores_rounded) << "no less wrong for it";
  EXPECT_THAT(rounded.reason, ::testing::HasSubstr("in float32"));
  EXPECT_THAT(rounded.reason, ::testing::Not(::testing::HasSubstr("rescale")));
  EXPECT_EQ(with_one_wrong(one, expected, expected.o[5] + 2 * rounding).symptom,
            report::Symptom::finite_but_wrong);
}

TEST(Verify, ValuesNearTheLargestNumberOverflow) {
  Case one = small_case();
  Inputs inputs = make_inputs(one);
  for (double& v : inputs.v) v = 3e38;
  Expected const expected = make_expected(one, inputs, rows_to_verify(one.shape));
  double const infinity = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(expected.o[5], 3e38, 1e30);
  EXPECT_EQ(with_one_wrong(one, expected, infinity).symptom, report::Symptom::overflow);
  EXPECT_THAT(with_one_wrong(one, expected, infinity).reason, ::testing::HasSubstr("accumulator overflowed"));
  Inputs const plain = make_inputs(one);
  Expected const small = make_expected(one, plain, rows_to_verify(one.shape));
  EXPECT_EQ(with_one_wrong(one, small, infinity).symptom, report::Symptom::finite_but_wrong);
}

TEST(Sample, TakesAllRowsWithinTheBudget) {
  Shape const shape = small_case().shape;
  std::vector<QueryRow> const rows = rows_to_verify(shape);
  EXPECT_EQ(rows.size(), 320u);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_EQ(rows.front(), (QueryRow{0, 0, 0}));
  EXPECT_EQ(rows.back(), (QueryRow{1, 3, 39}));
}

TEST(Sample, HasTheEdgesAndAllHeads) {
  Shape const shape = {.batch = 2,
                       .heads = 8,
                       .kv_heads = 8,
                       .seq_q = 16384,
                       .seq_k = 16384,
                       .head_dim = 128,
                       .value_dim = 128};
  std::vector<QueryRow> const rows = rows_to_verify(shape);
  EXPECT_EQ(rows.size(), 953u);  // 4e9 / (16384 * 256)
  std::set<std::int64_t> heads;
  std::set<std::int64_t> positions;
  for (QueryRow const& row : rows) {
    heads.insert(row.b * 8 + row.h);
    positions.insert(row.i);
    ASSERT_GE(row.i, 0);
    ASSERT_LT(row.i, 16384);
  }
  EXPECT_EQ(heads.size(), 16u);
  for (std::int64_t const edge : {0, 63, 64, 16320, 16319, 16383})
    EXPECT_TRUE(positions.contains(edge)) << edge;
  for (std::int64_t part = 0; part < 16; ++part) {
    auto const first = positions.lower_bound(part * 1024);
    EXPECT_TRUE(first != positions.end() && *first < (part + 1) * 1024) << "no row in sixteenth " << part;
  }
  EXPECT_EQ(rows_to_verify(shape), rows) << "the sample is fixed";
}

TEST(Sample, OfManyHeadsMeetsTheEdgesToo) {
  Shape shape = small_case().shape;
  shape.heads = shape.kv_heads = 50;
  shape.seq_q = 1000;
  std::set<std::int64_t> positions;
  for (QueryRow const& row : rows_to_verify(shape, 0)) positions.insert(row.i);
  for (std::int64_t const edge : {0, 63, 64, 959, 960, 999}) EXPECT_TRUE(positions.contains(edge)) << edge;
}

TEST(Sample, IsNeverLessThan64Rows) {
  Shape shape = small_case().shape;
  EXPECT_EQ(rows_to_verify(shape, 0).size(), 64u);
  shape.batch = 1;
  shape.heads = shape.kv_heads = 1;
  EXPECT_EQ(rows_to_verify(shape, 0).size(), 40u) << "there are no more";
  shape.seq_q = 100000;
  std::vector<QueryRow> const rows = rows_to_verify(shape, 0);
  EXPECT_EQ(rows.size(), 64u);
  EXPECT_EQ(rows.front().i, 0);
  EXPECT_EQ(rows.back().i, 99999);
  shape.seq_q = 0;
  EXPECT_TRUE(rows_to_verify(shape).empty());
}

}  // namespace
}  // namespace flashpad::measure
