// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a good file means: defaults, every key, the order and the names of the cases.
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace flashpad::test {
namespace {

using testing::ElementsAre;

TEST(Experiment, DefaultsArePlainFullAttention) {
  Experiment const experiment = parse(smallest);
  EXPECT_EQ(experiment.name, "f");
  EXPECT_EQ(experiment.file, "f.yaml");
  EXPECT_EQ(experiment.memory_limit, std::nullopt);
  EXPECT_TRUE(experiment.verify);
  EXPECT_EQ(experiment.expected_speedup, std::nullopt);
  EXPECT_EQ(experiment.timing.warmup, 2);
  EXPECT_EQ(experiment.timing.repetitions, 10);
  EXPECT_EQ(experiment.timing.cache, Cache::cold);
  EXPECT_TRUE(experiment.output.json.empty() && experiment.output.csv.empty());
  EXPECT_TRUE(experiment.output.o.empty() && experiment.output.lse.empty());

  ASSERT_EQ(experiment.cases.size(), 1u);
  Case const& c = experiment.cases[0];
  EXPECT_EQ(c.shape, (Shape{1, 1, 1, 16, 16, 64, 64}));
  EXPECT_EQ(c.dtype, DType::fp32);
  EXPECT_TRUE(c.mask.is_none());
  EXPECT_EQ(c.scale, std::nullopt);
  EXPECT_EQ(c.layout, Layout::bhnd);
  EXPECT_EQ(c.distribution, Distribution::normal);
  EXPECT_EQ(c.seed, 1u);
  EXPECT_FALSE(c.tensors);
  EXPECT_EQ(c.kernel, Kernel::automatic);
  EXPECT_EQ(c.backend, "auto");
  EXPECT_EQ(c.engine, "");
  EXPECT_EQ(c.tile, Tile{});
  EXPECT_EQ(c.splits, 0);
  EXPECT_FALSE(c.probabilities_in_input_type);
  EXPECT_TRUE(c.skip_hidden_tiles);
  EXPECT_EQ(c.problem_key, "b1_h1_n16_d64_fp32_none");
  EXPECT_EQ(c.name, "b1_h1_n16_d64_fp32_none_auto");
}

TEST(Experiment, EveryKeyArrives) {
  Experiment const experiment = parse(R"(
name: everything
problem:
  batch: 2
  heads: 8
  kv_heads: 2
  seq_q: 3
  seq_k: 0
  head_dim: 96
  value_dim: 128
  dtype: bf16
  mask: {window: [64, -1]}
  scale: -0.5
  layout: bnhd
  distribution: unbalanced
  seed: 7
kernels: fused
backend: threads
engine: avx512-bf16
tile: {q: 64, k: 128}
splits: 4
skip_hidden_tiles: false
memory_limit: 2 GiB
verify: false
timing: {warmup: 0, repetitions: 25, cache: warm}
output: {json: a/b.json, csv: c.csv, o: "o_{case}.npy", lse: lse.npy}
)");
  EXPECT_EQ(experiment.name, "everything");
  EXPECT_EQ(experiment.memory_limit, 2147483648.0);
  EXPECT_FALSE(experiment.verify);
  EXPECT_EQ(experiment.timing.warmup, 0);
  EXPECT_EQ(experiment.timing.repetitions, 25);
  EXPECT_EQ(experiment.timing.cache, Cache::warm);
  EXPECT_EQ(experiment.output.json, "a/b.json");
  EXPECT_EQ(experiment.output.csv, "c.csv");
  EXPECT_EQ(experiment.output.o, "o_{case}.npy");
  EXPECT_EQ(experiment.output.lse, "lse.npy");

  ASSERT_EQ(experiment.cases.size(), 1u);
  Case const& c = experiment.cases[0];
  EXPECT_EQ(c.shape, (Shape{2, 8, 2, 3, 0, 96, 128}));
  EXPECT_EQ(c.dtype, DType::bf16);
  EXPECT_EQ(c.mask, Mask::window(64, -1));
  EXPECT_EQ(c.scale, -0.5);
  EXPECT_EQ(c.layout, Layout::bnhd);
  EXPECT_EQ(c.distribution, Distribution::unbalanced);
  EXPECT_EQ(c.seed, 7u);
  EXPECT_EQ(c.kernel, Kernel::fused);
  EXPECT_EQ(c.backend, "threads");
  EXPECT_EQ(c.engine, "avx512-bf16");
  EXPECT_EQ(c.tile, (Tile{64, 128}));
  EXPECT_EQ(c.splits, 4);
  EXPECT_FALSE(c.skip_hidden_tiles);
  EXPECT_EQ(c.problem_key, "b2_h8kv2_n3k0_d96v128_bf16_window-64-all_scale-0.5_bnhd_unbalanced_seed7");
  EXPECT_EQ(c.name, c.problem_key + "_fused_t64x128_split4_noskip_engine-avx512-bf16_threads");
}

TEST(Experiment, ProbabilitiesAndSpeedupArrive) {
  Experiment const experiment = parse(
      "problem: {seq: 16, head_dim: 64, dtype: fp16}\nkernels: [naive, fused]\nprobabilities: "
      "input\nexpected_speedup: 1.5\n");
  EXPECT_EQ(experiment.expected_speedup, 1.5);
  ASSERT_EQ(experiment.cases.size(), 2u);
  EXPECT_TRUE(experiment.cases[0].probabilities_in_input_type);
  EXPECT_FALSE(experiment.cases[1].probabilities_in_input_type) << "fused stores no probabilities";
}

TEST(Experiment, ScaleZeroAndNegativeAreNumbers) {
  Experiment const experiment =
      parse("problem: {seq: 16, head_dim: 64, scale: [default, 0, -1, 1e-3, 0.125]}\n");
  std::vector<std::optional<double>> scales;
  for (Case const& c : experiment.cases) scales.push_back(c.scale);
  EXPECT_THAT(scales, ElementsAre(std::nullopt, 0.0, -1.0, 1e-3, 0.125));
}

TEST(Experiment, EmptySizesAreSizes) {
  Experiment const experiment =
      parse("problem: {batch: 0, heads: [0, 4], seq_q: 0, seq_k: 0, head_dim: 16}\n");
  EXPECT_THAT(case_names(experiment),
              ElementsAre("b0_h0_n0_d16_fp32_none_auto", "b0_h4_n0_d16_fp32_none_auto"));
}

TEST(Experiment, MemoryLimitTakesUnits) {
  auto const limit = [](std::string const& text) {
    return parse(smallest + "memory_limit: " + text).memory_limit;
  };
  EXPECT_EQ(limit("auto"), std::nullopt);
  EXPECT_EQ(limit("4096"), 4096.0);
  EXPECT_EQ(limit("1KiB"), 1024.0);
  EXPECT_EQ(limit("'3 MiB'"), 3145728.0);
  EXPECT_EQ(limit("1TiB"), 1099511627776.0);
  EXPECT_EQ(limit("5KB"), 5000.0);
  EXPECT_EQ(limit("5 MB"), 5e6);
  EXPECT_EQ(limit("5GB"), 5e9);
  EXPECT_EQ(limit("5TB"), 5e12);
}

TEST(Sweep, TheFirstKeyWrittenVariesSlowest) {
  EXPECT_THAT(case_names(parse(
                  "problem: {seq: [16, 32], head_dim: 64, mask: [none, causal]}\nkernels: [naive, fused]\n")),
              ElementsAre("b1_h1_n16_d64_fp32_none_naive", "b1_h1_n16_d64_fp32_none_fused",
                          "b1_h1_n16_d64_fp32_causal_naive", "b1_h1_n16_d64_fp32_causal_fused",
                          "b1_h1_n32_d64_fp32_none_naive", "b1_h1_n32_d64_fp32_none_fused",
                          "b1_h1_n32_d64_fp32_causal_naive", "b1_h1_n32_d64_fp32_causal_fused"));
  EXPECT_THAT(case_names(parse(
                  "kernels: [naive, fused]\nproblem: {head_dim: 64, mask: [none, causal], seq: [16, 32]}\n")),
              ElementsAre("b1_h1_n16_d64_fp32_none_naive", "b1_h1_n32_d64_fp32_none_naive",
                          "b1_h1_n16_d64_fp32_causal_naive", "b1_h1_n32_d64_fp32_causal_naive",
                          "b1_h1_n16_d64_fp32_none_fused", "b1_h1_n32_d64_fp32_none_fused",
                          "b1_h1_n16_d64_fp32_causal_fused", "b1_h1_n32_d64_fp32_causal_fused"));
}

TEST(Sweep, EveryProblemKeyMayBeAList) {
  Experiment const experiment = parse(R"(
problem: {batch: [1, 2], heads: [4, 8], kv_heads: [2, 4], seq_q: [8, 16], seq_k: [8, 32], head_dim: [16, 24],
          value_dim: [16, 32], dtype: [fp16, fp64], mask: [none, {window: [1, 0]}], scale: [default, 1],
          layout: [bhnd, bnhd], distribution: [uniform, constant], seed: [1, 2]}
)");
  EXPECT_EQ(experiment.cases.size(), 8192u);
  std::set<std::string> names;
  for (Case const& c : experiment.cases) {
    names.insert(c.name);
    EXPECT_EQ(c.name, c.problem_key + "_auto");
  }
  EXPECT_EQ(names.size(), 8192u) << "names are unique";
}

TEST(Sweep, NamesAreSafeInAFileName) {
  for (Case const& c :
       parse("problem: {seq: 16, head_dim: 64, mask: {window: [-1, 3]}, scale: [-1e-30, 1e+30]}\n").cases) {
    EXPECT_EQ(c.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-+"), std::string::npos)
        << c.name;
  }
}

TEST(Sweep, MethodsSweepAndShareTheirProblem) {
  Experiment const experiment = parse(smallest + R"(
kernels: fused
backend: [serial, openmp]
engine: [auto, simt]
splits: [auto, 1]
)");
  EXPECT_THAT(
      case_names(experiment),
      ElementsAre("b1_h1_n16_d64_fp32_none_fused_serial", "b1_h1_n16_d64_fp32_none_fused_split1_serial",
                  "b1_h1_n16_d64_fp32_none_fused_engine-simt_serial",
                  "b1_h1_n16_d64_fp32_none_fused_split1_engine-simt_serial",
                  "b1_h1_n16_d64_fp32_none_fused_openmp", "b1_h1_n16_d64_fp32_none_fused_split1_openmp",
                  "b1_h1_n16_d64_fp32_none_fused_engine-simt_openmp",
                  "b1_h1_n16_d64_fp32_none_fused_split1_engine-simt_openmp"));
  for (Case const& c : experiment.cases) EXPECT_EQ(c.problem_key, "b1_h1_n16_d64_fp32_none");
}

TEST(Sweep, TilesAreAListOfPairsOrAProduct) {
  EXPECT_THAT(case_names(parse(smallest + "kernels: fused\ntile: [auto, {q: 32, k: 64}, {k: 16}]\n")),
              ElementsAre("b1_h1_n16_d64_fp32_none_fused", "b1_h1_n16_d64_fp32_none_fused_t32x64",
                          "b1_h1_n16_d64_fp32_none_fused_tautox16"));
  EXPECT_THAT(case_names(parse(smallest + "kernels: fused\ntile: {k: [16, 32], q: [8, auto]}\n")),
              ElementsAre("b1_h1_n16_d64_fp32_none_fused_t8x16", "b1_h1_n16_d64_fp32_none_fused_tautox16",
                          "b1_h1_n16_d64_fp32_none_fused_t8x32", "b1_h1_n16_d64_fp32_none_fused_tautox32"));
}

TEST(Sweep, AnOptionWithoutUseMakesNoCases) {
  std::string const text =
      "problem: {seq: 16, head_dim: 64, mask: [none, causal]}\nkernels: [naive, fused]\n";
  EXPECT_THAT(case_names(parse(text + "skip_hidden_tiles: [true, false]\n")),
              ElementsAre("b1_h1_n16_d64_fp32_none_naive", "b1_h1_n16_d64_fp32_none_fused",
                          "b1_h1_n16_d64_fp32_causal_naive", "b1_h1_n16_d64_fp32_causal_fused",
                          "b1_h1_n16_d64_fp32_causal_fused_noskip"));
  std::string const causal = "problem: {seq: 16, head_dim: 64, mask: causal, dtype: [fp32, bf16]}\n";
  EXPECT_THAT(case_names(parse(
                  causal + "kernels: naive\ntile: [{q: 8}, {q: 16}]\nengine: [mma, simt]\nsplits: [1, 2]\n")),
              ElementsAre("b1_h1_n16_d64_fp32_causal_naive", "b1_h1_n16_d64_bf16_causal_naive"));
  EXPECT_THAT(case_names(parse(causal + "kernels: [naive, stats]\nprobabilities: [fp32, input]\n")),
              ElementsAre("b1_h1_n16_d64_fp32_causal_naive", "b1_h1_n16_d64_fp32_causal_stats",
                          "b1_h1_n16_d64_bf16_causal_naive", "b1_h1_n16_d64_bf16_causal_naive_p-input",
                          "b1_h1_n16_d64_bf16_causal_stats"));
}

}  // namespace
}  // namespace flashpad::test
