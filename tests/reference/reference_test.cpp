// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

// The reference is what all else is measured by, so it is held against answers worked out by hand.

namespace flashpad {
namespace {

struct Row {
  std::vector<double> o;
  double lse = 0, max = 0, sum = 0;
};

Row evaluate(ReferenceProblem const& problem, std::int64_t b, std::int64_t h, std::int64_t i) {
  Row row;
  row.o.resize(static_cast<std::size_t>(problem.shape.value_dim));
  reference_row(problem, b, h, i, row.o.data(), &row.lse, &row.max, &row.sum);
  return row;
}

TEST(Reference, TwoKeysByHand) {
  // Scores 2 * (1*3 + 2*1) = 10 and 2 * (1*1 + 2*0) = 2: weights 1 / (1 + e^-8) and its complement.
  std::vector<double> const q = {1, 2}, k = {3, 1, 1, 0}, v = {10, -10};
  ReferenceProblem const problem{{1, 1, 1, 1, 2, 2, 1}, Mask::none(), 2, q.data(), k.data(), v.data()};
  Row const row = evaluate(problem, 0, 0, 0);
  double const weight = 1 / (1 + std::exp(-8.0));
  EXPECT_NEAR(row.o[0], 10 * weight - 10 * (1 - weight), 1e-14);
  EXPECT_NEAR(row.lse, 10 + std::log(1 + std::exp(-8.0)), 1e-14);
  EXPECT_EQ(row.max, 10);
  EXPECT_NEAR(row.sum, 1 + std::exp(-8.0), 1e-15);
}

TEST(Reference, CausalIsAlignedBottomRight) {
  // Two queries, three keys, all scores 0: query 0 sees keys 0 and 1, query 1 sees all.
  std::vector<double> const q = {0, 0}, k = {0, 0, 0}, v = {1, 2, 6};
  ReferenceProblem const problem{{1, 1, 1, 2, 3, 1, 1}, Mask::causal(), 1, q.data(), k.data(), v.data()};
  EXPECT_NEAR(evaluate(problem, 0, 0, 0).o[0], 1.5, 1e-15);
  EXPECT_NEAR(evaluate(problem, 0, 0, 1).o[0], 3.0, 1e-15);
  EXPECT_NEAR(evaluate(problem, 0, 0, 0).lse, std::log(2.0), 1e-15);
}

TEST(Reference, WindowOfOneIsTheDiagonal) {
  std::vector<double> const q = {1, 1, 1}, k = {5, 5, 5}, v = {1, 2, 3};
  ReferenceProblem const problem{{1, 1, 1, 3, 3, 1, 1}, Mask::window(0, 0), 1, q.data(), k.data(), v.data()};
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(evaluate(problem, 0, 0, i).o[0], static_cast<double>(i + 1));
    EXPECT_EQ(evaluate(problem, 0, 0, i).lse, 5);
  }
}

TEST(Reference, ARowThatSeesNothingIsZero) {
  std::vector<double> const q = {1, 1}, k = {1}, v = {7};
  ReferenceProblem const problem{{1, 1, 1, 2, 1, 1, 1}, Mask::causal(), 1, q.data(), k.data(), v.data()};
  Row const row = evaluate(problem, 0, 0, 0);
  EXPECT_EQ(row.o[0], 0);
  EXPECT_EQ(row.lse, -INFINITY);
  EXPECT_EQ(row.sum, 0);
  EXPECT_EQ(evaluate(problem, 0, 0, 1).o[0], 7);
}

TEST(Reference, HiddenNanIsNotSeenAndAVisibleOneIs) {
  double const nan = std::nan("");
  std::vector<double> const q = {1, 1}, k = {1, nan}, v = {7, nan};
  ReferenceProblem const problem{{1, 1, 1, 2, 2, 1, 1}, Mask::causal(), 1, q.data(), k.data(), v.data()};
  EXPECT_EQ(evaluate(problem, 0, 0, 0).o[0], 7);
  EXPECT_TRUE(std::isnan(evaluate(problem, 0, 0, 1).o[0]));
  EXPECT_TRUE(std::isnan(evaluate(problem, 0, 0, 1).lse));
}

TEST(Reference, QueryHeadsShareKeyHeadsInOrder) {
  // Four query heads on two key heads: 0 and 1 read the first, 2 and 3 the second; batches lie apart.
  std::vector<double> const q(8, 1), k(4, 1), v = {1, 2, 3, 4};
  ReferenceProblem const problem{{2, 4, 2, 1, 1, 1, 1}, Mask::none(), 1, q.data(), k.data(), v.data()};
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 4; ++h) {
      std::int64_t const key_head = b * 2 + h / 2;
      EXPECT_EQ(evaluate(problem, b, h, 0).o[0], static_cast<double>(key_head + 1));
    }
  }
}

TEST(Reference, HugeLogitsDoNotOverflow) {
  std::vector<double> const q = {1}, k = {-1e30, -1e30}, v = {1, 3};
  ReferenceProblem const problem{{1, 1, 1, 1, 2, 1, 1}, Mask::none(), 1, q.data(), k.data(), v.data()};
  EXPECT_EQ(evaluate(problem, 0, 0, 0).o[0], 2);
  EXPECT_EQ(evaluate(problem, 0, 0, 0).lse, -1e30 + std::log(2.0));
}

}  // namespace
}  // namespace flashpad
