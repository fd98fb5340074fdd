// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <gmock/gmock.h>

namespace flashpad::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Explain : public Cli {};

// The figures of the module that Flashpad began with; the formulas are tested in tests/model/fusing_test.cpp.
TEST_F(Explain, PrintsTheModulesFigures) {
  Finished const finished = flashpad({"explain", "--ridge", "200"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  // N; Q, K, V, O; S; unfused; ratio; operations a byte
  EXPECT_THAT(finished.out, ContainsRegex("1,024 +1.00 MiB +2.00 MiB +9.00 MiB +9.0 +56.9 +512.0"));
  EXPECT_THAT(finished.out, ContainsRegex("4,096 +4.00 MiB +32.00 MiB +132.00 MiB +33.0 +62.1 +2048.0"));
  EXPECT_THAT(finished.out, ContainsRegex("16,384 +16.00 MiB +512.00 MiB +2.02 GiB +129.0 +63.5 +8192.0"));
  EXPECT_THAT(finished.out, HasSubstr("ratio = 1 + N/d: no element width is in it"));
  EXPECT_THAT(finished.out, HasSubstr("comes to d/e = 64 and no further"));
  EXPECT_THAT(finished.out,
              HasSubstr("ridge 200 (given by --ridge):\n    compute limits fused from N = 400 on, "
                        "unfused from no N on"));
  EXPECT_THAT(finished.out, ContainsRegex("256.00 MiB \\(.*\\) at N = 11,586\n"));
  EXPECT_THAT(finished.out, ContainsRegex("192.00 GiB \\(.*\\) at N = 321,060\n"));
  EXPECT_THAT(finished.out, ContainsRegex("64 x 64 +16.00 KiB\n +4 x 64 lanes: 16 registers a lane\n"));
  EXPECT_THAT(finished.out, ContainsRegex("128 x 128 +64.00 KiB\n"));
  EXPECT_THAT(finished.out, ContainsRegex("= 54 where copies run"));
  EXPECT_THAT(finished.out, ContainsRegex("\\(HIP\\) it is 18"));
  EXPECT_THAT(finished.out, HasSubstr("-1e9"));
}

TEST_F(Explain, TakesTheProblemsOfAnExperiment) {
  write("e.yaml",
        "name: e\nproblem: {batch: 2, heads: 8, kv_heads: 2, seq: [512, 2048], head_dim: 64, dtype: [bf16, "
        "fp64], "
        "mask: causal}\nkernels: [naive, fused]\n");
  Finished const finished = flashpad({"explain", "e.yaml", "--ridge", "20"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("Traffic: batch 2, heads 8 on 2, bf16, d 64, mask causal\n"));
  EXPECT_THAT(finished.out, HasSubstr("Traffic: batch 2, heads 8 on 2, fp64, d 64, mask causal\n"));
  // 2 bytes * 2 * (2 * 8 + 2 * 2) * 512 * 64 of arguments
  EXPECT_THAT(finished.out, ContainsRegex("512 +2.50 MiB +512.00 KiB"));
  EXPECT_THAT(finished.out, Not(HasSubstr("1 + N/d"))) << "the closed form is of equal heads without a mask";
  Finished const other = flashpad({"explain", "e.yaml", "--ridge", "20", "--set", "problem.dtype=fp16"});
  EXPECT_THAT(other.out, Not(HasSubstr("fp64")));
}

TEST_F(Explain, ShowsWhatTheTilesOfAnExperimentTake) {
  write("tiles.yaml",
        "name: t\nproblem: {batch: 1, heads: 2, seq: 512, head_dim: 96, dtype: fp32}\n"
        "kernels: [naive, fused, stats]\ntile: [auto, {q: 32, k: 64}]\n");
  Finished const finished = flashpad({"explain", "tiles.yaml", "--ridge", "20"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              ContainsRegex("fused on [a-z]+ 32x64, team of [0-9]+ \\(asked\\): 32 x 96 is 12.00 KiB"));
  EXPECT_THAT(finished.out,
              ContainsRegex("fused on [a-z]+ [0-9]+x[0-9]+, team of [0-9]+ \\(table\\): [0-9]+ x 96 is"));
  EXPECT_THAT(finished.out,
              ContainsRegex("stats on [a-z]+ 32x64, team of [0-9]+ \\(asked\\): no accumulator\n"));
  EXPECT_THAT(finished.out, Not(HasSubstr("naive on")));
}

TEST_F(Explain, ShowsALengthOfNothing) {
  write("none.yaml",
        "name: n\nproblem: {batch: 1, heads: 1, seq: [0, 64], head_dim: 32, dtype: fp32}\nkernels: fused\n");
  Finished const finished = flashpad({"explain", "none.yaml", "--ridge", "20"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, ContainsRegex("\n +0 +0 B +0 B +0 B +- +- +-\n +64 "));
  EXPECT_THAT(finished.out, Not(HasSubstr("nan")));
}

TEST_F(Explain, MeasuresTheRidgeWhereNoneIsGiven) {
  Finished const finished = flashpad({"explain"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              ContainsRegex("ridge [0-9.e+]+ \\(measured now on [a-z]+: [a-z0-9 -]*[0-9.e+-]+ TFLOP/s over"));
  EXPECT_THAT(finished.out, HasSubstr("this machine's last-level cache"));
}

TEST_F(Explain, MistakesAreOneLineAndExitTwo) {
  write("empty.yaml", "name: e\nproblem: {batch: 0, heads: 1, seq: 8, head_dim: 16}\nkernels: fused\n");
  for (std::vector<std::string> arguments :
       std::vector<std::vector<std::string>>{{"none.yaml"},
                                             {"empty.yaml"},
                                             {"--ridge", "0"},
                                             {"--ridge", "nan"},
                                             {"--ridge", "steep"},
                                             {"--set", "problem.seq=3"}}) {
    arguments.insert(arguments.begin(), "explain");
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2) << ::testing::PrintToString(arguments) << finished.out;
    expect_one_error_line(finished);
  }
}

}  // namespace
}  // namespace flashpad::cli
