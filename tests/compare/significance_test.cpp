// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/significance.hpp"

#include <gtest/gtest.h>

namespace flashpad::compare {
namespace {

std::vector<double> steps(double first, double step, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(first + step * i);
  return values;
}

// Expected values: scipy.stats.mannwhitneyu 1.1x, method "exact" without ties and "asymptotic" with them.
TEST(MannWhitney, IsExactForFewSamplesWithoutTies) {
  EXPECT_NEAR(mann_whitney({1, 2, 3}, {4, 5, 6}), 0.1, 1e-12);
  EXPECT_NEAR(mann_whitney({1, 5, 2, 8}, {3, 4, 6, 7, 9.5}), 0.4126984126984127, 1e-12);
  EXPECT_NEAR(mann_whitney(steps(1.1, 1.1, 10), steps(3.15, 1.1, 10)), 0.31499924224382436, 1e-10);
}

TEST(MannWhitney, ApproximatesWhereThereAreTiesOrMany) {
  EXPECT_NEAR(mann_whitney({1, 1, 2, 2, 3, 3, 4, 4}, {2, 2, 3, 3, 4, 4, 5, 5}), 0.14639909928296396, 1e-10);
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 30; ++i) a.push_back(10 + 0.1 * i);
  for (int i = 0; i < 25; ++i) b.push_back(11.05 + 0.1 * i);
  EXPECT_NEAR(mann_whitney(a, b), 0.001817006281075084, 1e-9);
}

TEST(MannWhitney, IsTheSameFromBothSides) {
  std::vector<double> const a = {1, 5, 2, 8};
  std::vector<double> const b = {3, 4, 6, 7, 9.5};
  EXPECT_DOUBLE_EQ(mann_whitney(a, b), mann_whitney(b, a));
}

TEST(MannWhitney, OfEqualSamplesIsOne) {
  EXPECT_DOUBLE_EQ(mann_whitney({2, 2, 2, 2}, {2, 2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(mann_whitney({2}, {3}), 1);
}

TEST(LeastProbability, IsThatOfSamplesThatDoNotOverlap) {
  EXPECT_NEAR(least_probability(3, 3), mann_whitney({1, 2, 3}, {4, 5, 6}), 1e-12);
  EXPECT_NEAR(least_probability(10, 10), mann_whitney(steps(0, 1, 10), steps(20, 1, 10)), 1e-12);
  EXPECT_DOUBLE_EQ(least_probability(1, 1), 1);
}

TEST(MedianTest, ComparesTheDistanceWithTheErrorsOfTheMedians) {
  // Standard errors 1.2533 * 1.349 / 1.349 / sqrt(25) = 0.25066 each; two medians that lie 1.96 of both
  // apart.
  Quartiles const a{10, 0.1349, 25};
  double const far = 1.959964 * 0.25066 * 1.4142136;
  Quartiles const b{10 + far, 1.349 / (10 + far), 25};
  EXPECT_NEAR(median_test(a, b), 0.05, 1e-4);
  EXPECT_NEAR(median_test(b, a), 0.05, 1e-4);
}

TEST(MedianTest, WithoutSpreadTakesAnyDifferenceForReal) {
  EXPECT_EQ(median_test({1, 0, 10}, {1, 0, 10}), 1);
  EXPECT_EQ(median_test({1, 0, 10}, {1.1, 0, 10}), 0);
}

}  // namespace
}  // namespace flashpad::compare
