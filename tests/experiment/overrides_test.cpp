// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --set path=value.
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flashpad::test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(Overrides, ReplaceAValueAndKeepItsPlaceInTheOrder) {
  std::string const text = "problem: {seq: [16, 32], head_dim: 64, mask: [none, causal]}\n";
  EXPECT_THAT(case_names(parse(text, {"problem.seq=[48, 64]"})),
              ElementsAre("b1_h1_n48_d64_fp32_none_auto", "b1_h1_n48_d64_fp32_causal_auto",
                          "b1_h1_n64_d64_fp32_none_auto", "b1_h1_n64_d64_fp32_causal_auto"));
  EXPECT_THAT(case_names(parse(text, {"problem.seq=8", "problem.mask={window: [64, 0]}"})),
              ElementsAre("b1_h1_n8_d64_fp32_window-64-0_auto"));
}

TEST(Overrides, AddKeysAtTheEnd) {
  EXPECT_THAT(
      case_names(parse("kernels: [naive, fused]\nproblem: {seq: [16, 32], head_dim: 64}\n",
                       {"problem.batch=[1, 2]", "tile.q=32", "name=other"})),
      ElementsAre("b1_h1_n16_d64_fp32_none_naive", "b2_h1_n16_d64_fp32_none_naive",
                  "b1_h1_n32_d64_fp32_none_naive", "b2_h1_n32_d64_fp32_none_naive",
                  "b1_h1_n16_d64_fp32_none_fused_t32xauto", "b2_h1_n16_d64_fp32_none_fused_t32xauto",
                  "b1_h1_n32_d64_fp32_none_fused_t32xauto", "b2_h1_n32_d64_fp32_none_fused_t32xauto"));
  EXPECT_EQ(parse(smallest, {"timing.repetitions=3"}).timing.repetitions, 3);
  EXPECT_EQ(parse(smallest, {"output.o='{case}=x.npy'"}).output.o, "{case}=x.npy")
      << "only the first = counts";
}

TEST(Overrides, AreAppliedInOrder) {
  Experiment const experiment = parse(smallest, {"kernels=fused", "tile={q: 8, k: 8}", "tile.k=16"});
  EXPECT_EQ(experiment.cases.at(0).tile, (Tile{8, 16}));
}

TEST(Overrides, ErrorsNameTheArgument) {
  EXPECT_THAT(
      error_of(smallest, {"problem.seqq=[512]"}),
      StartsWith(
          "--set problem.seqq=[512]: problem.seqq: unknown key; did you mean 'seq'; allowed: tensors, "));
  EXPECT_THAT(
      error_of(smallest, {"problm.seq=512"}),
      StartsWith("--set problm.seq=512: problm: unknown key; did you mean 'problem'; allowed: name, "));
  EXPECT_THAT(error_of(smallest, {"problem.seq[0]=512"}),
              StartsWith("--set problem.seq[0]=512: problem.seq[0]: unknown key; allowed: tensors, batch"));
  EXPECT_EQ(error_of(smallest, {"problem.heads=[1, 1e3]"}),
            "--set problem.heads=[1, 1e3]: problem.heads[1]: found '1e3'; allowed: a whole number from 0 to "
            "2147483647 "
            "in plain digits");
  EXPECT_EQ(
      error_of(smallest, {"problem.heads=4", "problem.kv_heads=3"}),
      "--set problem.kv_heads=3: problem.kv_heads: 3 does not divide heads = 4; allowed: a divisor of heads");
  EXPECT_EQ(
      error_of(smallest, {"problem.seq_q=8"}),
      "--set problem.seq_q=8: problem.seq_q: found beside problem.seq; allowed: seq, or seq_q and seq_k");
  EXPECT_EQ(error_of("problem: {seq_q: 8, seq_k: 8, head_dim: 64}\n", {"problem.seq=8"}),
            "f.yaml:1:11: problem.seq_q: found beside problem.seq; allowed: seq, or seq_q and seq_k");
  EXPECT_THAT(error_of(smallest, {"problem.seq=[1"}),
              StartsWith("--set problem.seq=[1: not valid YAML: it ends inside"));
  EXPECT_EQ(error_of(smallest, {"tile={q: 1, q: 2}"}),
            "--set tile={q: 1, q: 2}: q: duplicate key, already at --set tile={q: 1, q: 2}; allowed: each "
            "key once");
}

TEST(Overrides, MalformedArgumentsAreRefused) {
  EXPECT_EQ(error_of(smallest, {"problem.seq"}),
            "--set problem.seq: no '='; allowed: path=value, such as problem.seq=[512, 1024]");
  EXPECT_EQ(error_of(smallest, {"name="}), "--set name=: name: no value after '='");
  EXPECT_EQ(error_of(smallest, {"name=  # nothing"}), "--set name=  # nothing: name: no value after '='");
  for (std::string const path : {"", ".", "problem.", ".seq", "problem..seq"}) {
    EXPECT_EQ(error_of(smallest, {path + "=1"}),
              "--set " + path + "=1: found the path '" + path +
                  "'; allowed: up to 16 keys joined by dots, such as problem.seq");
  }
  std::string deep = "a";
  for (int i = 0; i < 5000; ++i) deep += ".a";
  EXPECT_THAT(error_of(smallest, {deep + "=1"}), StartsWith("--set a.a.a."));
  EXPECT_EQ(error_of(smallest, {"name=a\nb: c"}).find('\n'), std::string::npos);
}

TEST(Overrides, NothingIsUndoneInSilence) {
  EXPECT_EQ(error_of(smallest, {"problem.seq=1", "problem.seq=2"}),
            "--set problem.seq=2: problem.seq: undoes an earlier --set problem.seq; allowed: each key once");
  EXPECT_EQ(error_of(smallest, {"tile.q=1", "tile=auto"}),
            "--set tile=auto: tile: undoes an earlier --set tile.q; allowed: each key once");
  EXPECT_EQ(error_of(smallest + "tile: [auto]\n", {"tile.q=8"}),
            "--set tile.q=8: tile: is a list at f.yaml:2:7, without keys; allowed: to set it as a whole");
}

}  // namespace
}  // namespace flashpad::test
