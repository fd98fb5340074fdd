// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with one value or one key: each file gets exactly the message it deserves.
#include "support.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace flashpad::test {
namespace {

struct Refused {
  char const* name;
  std::string text;
  std::string message;
};

void PrintTo(Refused const& refused, std::ostream* stream) { *stream << refused.name; }

class RefusedExperiment : public testing::TestWithParam<Refused> {};

TEST_P(RefusedExperiment, GetsItsMessage) { EXPECT_EQ(error_of(GetParam().text), GetParam().message); }

std::string name_of(testing::TestParamInfo<Refused> const& info) { return info.param.name; }

/// A problem of one more line, at line 4.
std::string problem_with(std::string const& line) {
  return "problem:\n  seq: 16\n  head_dim: 64\n  " + line + "\n";
}

std::string const size_allowed = "; allowed: a whole number from 0 to 2147483647 in plain digits";

INSTANTIATE_TEST_SUITE_P(
    Integer, RefusedExperiment,
    testing::Values(
        Refused{"Exponent", problem_with("heads: 1e3"),
                "f.yaml:4:10: problem.heads: found '1e3'" + size_allowed},
        Refused{"Decimal", problem_with("heads: 1.0"),
                "f.yaml:4:10: problem.heads: found '1.0'" + size_allowed},
        Refused{"LeadingZero", problem_with("heads: 010"),
                "f.yaml:4:10: problem.heads: found '010'" + size_allowed},
        Refused{"Hexadecimal", problem_with("heads: 0x10"),
                "f.yaml:4:10: problem.heads: found '0x10'" + size_allowed},
        Refused{"Octal", problem_with("heads: 0o7"),
                "f.yaml:4:10: problem.heads: found '0o7'" + size_allowed},
        Refused{"Underscore", problem_with("heads: 1_000"),
                "f.yaml:4:10: problem.heads: found '1_000'" + size_allowed},
        Refused{"Plus", problem_with("heads: +8"), "f.yaml:4:10: problem.heads: found '+8'" + size_allowed},
        Refused{"MinusZero", problem_with("heads: -0"),
                "f.yaml:4:10: problem.heads: found '-0'" + size_allowed},
        Refused{"Negative", problem_with("heads: -8"),
                "f.yaml:4:10: problem.heads: found '-8'" + size_allowed},
        Refused{"Beyond32Bits", problem_with("heads: 4294967297"),
                "f.yaml:4:10: problem.heads: found '4294967297'" + size_allowed},
        Refused{"Beyond64Bits", problem_with("heads: 18446744073709551617"),
                "f.yaml:4:10: problem.heads: found '18446744073709551617'" + size_allowed},
        Refused{"Quoted", problem_with("heads: \"8\""),
                "f.yaml:4:10: problem.heads: found the text \"8\"" + size_allowed},
        Refused{"NotANumber", problem_with("heads: .nan"),
                "f.yaml:4:10: problem.heads: found '.nan'" + size_allowed},
        Refused{"Nothing", problem_with("heads:"), "f.yaml:4:3: problem.heads: found nothing" + size_allowed},
        Refused{"Null", problem_with("heads: ~"), "f.yaml:4:3: problem.heads: found nothing" + size_allowed},
        Refused{"Map", problem_with("heads: {a: 1}"),
                "f.yaml:4:10: problem.heads: found a map" + size_allowed},
        Refused{"ListInList", problem_with("heads: [1, [2]]"),
                "f.yaml:4:14: problem.heads[1]: found a list" + size_allowed},
        Refused{"GapInList", problem_with("heads: [1,,2]"),
                "f.yaml:4:13: problem.heads[1]: found nothing" + size_allowed},
        Refused{"TwoLines", problem_with("heads: 1\n   2"),
                "f.yaml:4:10: problem.heads: found '1 2'" + size_allowed},
        Refused{"EmptyList", problem_with("heads: []"),
                "f.yaml:4:10: problem.heads: found an empty list; allowed: one value or more"},
        Refused{"Repeated", problem_with("heads: [1, 2, 1]"),
                "f.yaml:4:17: problem.heads[2]: repeats problem.heads[0]; allowed: each value once"},
        Refused{"Seed", problem_with("seed: 9223372036854775808"),
                "f.yaml:4:9: problem.seed: found '9223372036854775808'; allowed: a whole number from 0 to "
                "9223372036854775807 in plain digits"}),
    name_of);

std::string const scale_allowed =
    "; allowed: a finite number such as 0.125, -2 or 1e-3, of a size that float32 holds";
std::string const mask_allowed = "; allowed: none, causal or {window: [left, right]}";

INSTANTIATE_TEST_SUITE_P(
    Problem, RefusedExperiment,
    testing::Values(
        Refused{"ScaleNan", problem_with("scale: .nan"),
                "f.yaml:4:10: problem.scale: found '.nan'; allowed: default, or a finite number such as "
                "0.125, -2 or "
                "1e-3"},
        Refused{"ScaleInf", problem_with("scale: -.inf"),
                "f.yaml:4:10: problem.scale: found '-.inf'; allowed: default, or a finite number such as "
                "0.125, -2 or "
                "1e-3"},
        Refused{"ScaleQuoted", problem_with("scale: '1'"),
                "f.yaml:4:10: problem.scale: found the text \"1\"; allowed: default, or a finite number such "
                "as 0.125, "
                "-2 or 1e-3"},
        Refused{"ScaleTooLarge", problem_with("scale: 1e39"),
                "f.yaml:4:10: problem.scale: found '1e39'" + scale_allowed},
        Refused{"ScaleOverflow", problem_with("scale: 1e999"),
                "f.yaml:4:10: problem.scale: found '1e999'" + scale_allowed},
        Refused{"ScaleLeadingZero", problem_with("scale: 00.5"),
                "f.yaml:4:10: problem.scale: found '00.5'" + scale_allowed},
        Refused{"ScaleTwoSpellings", problem_with("scale: [0.5, 0.50]"),
                "f.yaml:4:16: problem.scale[1]: repeats problem.scale[0]; allowed: each value once"},
        Refused{
            "Dtype", problem_with("dtype: fp23"),
            "f.yaml:4:10: problem.dtype: found 'fp23'; did you mean 'fp32'; allowed: fp64, fp32, fp16, bf16"},
        Refused{
            "DtypeCase", problem_with("dtype: FP32"),
            "f.yaml:4:10: problem.dtype: found 'FP32'; did you mean 'fp32'; allowed: fp64, fp32, fp16, bf16"},
        Refused{"Layout", problem_with("layout: bhdn"),
                "f.yaml:4:11: problem.layout: found 'bhdn'; did you mean 'bhnd'; allowed: bhnd, bnhd"},
        Refused{"Distribution", problem_with("distribution: gauss"),
                "f.yaml:4:17: problem.distribution: found 'gauss'; allowed: normal, uniform, unbalanced, "
                "constant"},
        Refused{"Mask", problem_with("mask: casual"),
                "f.yaml:4:9: problem.mask: found 'casual'; did you mean 'causal'" + mask_allowed},
        Refused{"MaskNumber", problem_with("mask: 5"), "f.yaml:4:9: problem.mask: found '5'" + mask_allowed},
        Refused{"MaskEmpty", problem_with("mask: {}"),
                "f.yaml:4:9: problem.mask: found a map without keys" + mask_allowed},
        Refused{"MaskKey", problem_with("mask: {windw: [1, 2]}"),
                "f.yaml:4:10: problem.mask.windw: unknown key; did you mean 'window'; allowed: window"},
        Refused{"WindowOneSide", problem_with("mask: {window: [64]}"),
                "f.yaml:4:18: problem.mask.window: found a list of 1 values; allowed: a list [left, right]"},
        Refused{"WindowNumber", problem_with("mask: {window: 64}"),
                "f.yaml:4:18: problem.mask.window: found '64'; allowed: a list [left, right]"},
        Refused{"WindowNegative", problem_with("mask: [none, {window: [-2, 0]}]"),
                "f.yaml:4:26: problem.mask[1].window[0]: found '-2'; allowed: a whole number from -1 to "
                "2147483647 in "
                "plain digits"},
        Refused{"SameMaskTwice", problem_with("mask: [causal, {window: [-1, 0]}]"),
                "f.yaml:4:18: problem.mask[1]: repeats problem.mask[0]; allowed: each value once"},
        Refused{"HeadDim", "problem:\n  seq: 16\n  head_dim: [64, 20]\n",
                "f.yaml:3:18: problem.head_dim[1]: 20 is not supported; allowed: 16 to 256 in steps of 8"},
        Refused{"ValueDim", problem_with("value_dim: 264"),
                "f.yaml:4:14: problem.value_dim: 264 is not supported; allowed: 16 to 256 in steps of 8"},
        Refused{"KvHeads", problem_with("heads: 8\n  kv_heads: [4, 3]"),
                "f.yaml:5:17: problem.kv_heads: 3 does not divide heads = 8; allowed: a divisor of heads"},
        Refused{"NoSeq", "name: x\nproblem: {head_dim: 64}\n",
                "f.yaml:2:1: problem.seq: missing; allowed: seq, or seq_q and seq_k, or tensors"},
        Refused{"NoHeadDim", "problem: {seq: 16}\n",
                "f.yaml:1:1: problem.head_dim: missing; allowed: head_dim, or tensors"},
        Refused{"SeqAndSeqK", problem_with("seq_k: 8"),
                "f.yaml:4:3: problem.seq_k: found beside problem.seq; allowed: seq, or seq_q and seq_k"},
        Refused{"SeqQAlone", "problem:\n  seq_q: 16\n  head_dim: 64\n",
                "f.yaml:2:3: problem.seq_q: found alone; allowed: seq, or seq_q and seq_k"},
        Refused{"NoProblem", "name: x\n",
                "f.yaml:1:1: problem: missing; allowed: an experiment with a problem"},
        Refused{
            "MistypedKey", problem_with("dtpye: fp32"),
            "f.yaml:4:3: problem.dtpye: unknown key; did you mean 'dtype'; allowed: tensors, batch, heads, "
            "kv_heads, seq, seq_q, seq_k, head_dim, value_dim, dtype, mask, scale, layout, distribution, "
            "seed"},
        Refused{"TooManyElements",
                "problem: {batch: 4, heads: 2147483647, kv_heads: 1, seq: 2147483647, head_dim: 64}\n",
                "f.yaml:1:1: problem: found q of 4 x 2147483647 x 2147483647 x 64 elements in case "
                "b4_h2147483647kv1_n2147483647_d64_fp32_none; allowed: fewer than 2^63 bytes"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Method, RefusedExperiment,
    testing::Values(
        Refused{"Kernel", smallest + "kernels: [naive, fuse]\n",
                "f.yaml:2:18: kernels[1]: found 'fuse'; did you mean 'fused'; allowed: auto, naive, "
                "naive-vendor, "
                "fused, hopper, stats"},
        Refused{
            "KernelNothing", smallest + "kernels:\n",
            "f.yaml:2:1: kernels: found nothing; allowed: auto, naive, naive-vendor, fused, hopper, stats"},
        Refused{"Backend", smallest + "backend: opemnp\n",
                "f.yaml:2:10: backend: found 'opemnp'; did you mean 'openmp'; allowed: auto, serial, openmp, "
                "threads, "
                "cuda, hip"},
        Refused{"Engine", smallest + "engine: AVX2\n",
                "f.yaml:2:9: engine: found 'AVX2'; allowed: auto, amx-bf16, amx-bf16x3, avx512-bf16, "
                "portable, portable-v4, portable-v3, portable-baseline, rows, rows-amx-bf16, "
                "rows-avx512-bf16, rows-v4, rows-v3, rows-baseline, mma, mma-tf32x3, mma-tf32, mfma, simt"},
        Refused{"EngineOfNoBuild", smallest + "engine: [auto, amx]\n",
                "f.yaml:2:16: engine[1]: found 'amx'; allowed: auto, amx-bf16, amx-bf16x3, avx512-bf16, "
                "portable, portable-v4, portable-v3, portable-baseline, rows, rows-amx-bf16, "
                "rows-avx512-bf16, rows-v4, rows-v3, rows-baseline, mma, mma-tf32x3, mma-tf32, mfma, simt"},
        Refused{"TileNumber", smallest + "tile: 64\n",
                "f.yaml:2:7: tile: found '64'; allowed: auto, or a map {q: auto or a number, k: auto or a "
                "number}"},
        Refused{"TileZero", smallest + "tile: {q: 0}\n",
                "f.yaml:2:11: tile.q: found '0'; allowed: a whole number from 1 to 65536 in plain digits"},
        Refused{"TileNegative", smallest + "tile: [{q: 64, k: -1}]\n",
                "f.yaml:2:19: tile[0].k: found '-1'; allowed: auto, or a whole number from 1 to 65536"},
        Refused{"TileListInList", smallest + "tile: [{q: [32, 64]}]\n",
                "f.yaml:2:12: tile[0].q: found a list; allowed: auto, or a whole number from 1 to 65536"},
        Refused{"TileKey", smallest + "tile: {q: 64, kk: 64}\n",
                "f.yaml:2:15: tile.kk: unknown key; allowed: q, k"},
        Refused{"SameTileTwice", smallest + "tile: [auto, {q: auto, k: auto}]\n",
                "f.yaml:2:14: tile[1]: repeats tile[0]; allowed: each value once"},
        Refused{"Splits", smallest + "splits: 0\n",
                "f.yaml:2:9: splits: found '0'; allowed: a whole number from 1 to 1024 in plain digits"},
        Refused{"SplitsThatTheLibraryRefuses", smallest + "splits: 1025\n",
                "f.yaml:2:9: splits: found '1025'; allowed: a whole number from 1 to 1024 in plain digits"},
        Refused{
            "TileThatTheLibraryRefuses", smallest + "tile: {k: 65537}\n",
            "f.yaml:2:11: tile.k: found '65537'; allowed: a whole number from 1 to 65536 in plain digits"},
        Refused{"Probabilities", smallest + "probabilities: fp16\n",
                "f.yaml:2:16: probabilities: found 'fp16'; did you mean 'fp32'; allowed: fp32, input"},
        Refused{"Skip", smallest + "skip_hidden_tiles: no\n",
                "f.yaml:2:20: skip_hidden_tiles: found 'no'; allowed: true or false"}),
    name_of);

std::string const bytes_allowed =
    "; allowed: auto, or bytes above 0 as a whole number, alone or with KiB, MiB, GiB, TiB, KB, MB, GB or TB";

INSTANTIATE_TEST_SUITE_P(
    Settings, RefusedExperiment,
    testing::Values(
        Refused{"MistypedKey", smallest + "kernel: naive\n",
                "f.yaml:2:1: kernel: unknown key; did you mean 'kernels'; allowed: name, problem, kernels, "
                "backend, "
                "engine, tile, team, stages, splits, probabilities, skip_hidden_tiles, memory_limit, verify, "
                "expected_speedup, timing, tune, output"},
        Refused{"FarFromAnyKey", smallest + "timing: {iterations: 3}\n",
                "f.yaml:2:10: timing.iterations: unknown key; allowed: warmup, repetitions, cache"},
        Refused{"NameEmpty", smallest + "name: ''\n",
                "f.yaml:2:7: name: found the text \"\"; allowed: text on one line"},
        Refused{"NameTwoLines", smallest + "name: \"a\\nb\"\n",
                "f.yaml:2:7: name: found the text \"a\\x0ab\"; allowed: text on one line"},
        Refused{"VerifyYes", smallest + "verify: yes\n",
                "f.yaml:2:9: verify: found 'yes'; allowed: true or false"},
        Refused{"VerifyQuoted", smallest + "verify: 'true'\n",
                "f.yaml:2:9: verify: found the text \"true\"; allowed: true or false"},
        Refused{"VerifyList", smallest + "verify: [true]\n",
                "f.yaml:2:9: verify: found a list; allowed: true or false"},
        Refused{"MemoryZero", smallest + "memory_limit: 0\n",
                "f.yaml:2:15: memory_limit: found '0'" + bytes_allowed},
        Refused{"MemoryFraction", smallest + "memory_limit: 1.5GiB\n",
                "f.yaml:2:15: memory_limit: found '1.5GiB'" + bytes_allowed},
        Refused{"MemoryUnit", smallest + "memory_limit: 2Gib\n",
                "f.yaml:2:15: memory_limit: found '2Gib'" + bytes_allowed},
        Refused{"MemoryOverflow", smallest + "memory_limit: 9999999999GiB\n",
                "f.yaml:2:15: memory_limit: found '9999999999GiB'" + bytes_allowed},
        Refused{"MemoryQuotedNumber", smallest + "memory_limit: '1024'\n",
                "f.yaml:2:15: memory_limit: found the text \"1024\"" + bytes_allowed},
        Refused{"SpeedupZero", smallest + "kernels: [naive, fused]\nexpected_speedup: 0\n",
                "f.yaml:3:19: expected_speedup: found '0'; allowed: a number above 0"},
        Refused{"SpeedupWithoutPair", smallest + "kernels: fused\nexpected_speedup: 2\n",
                "f.yaml:3:19: expected_speedup: compares fused with naive, and kernels has no naive; "
                "allowed: with "
                "both"},
        Refused{
            "Repetitions", smallest + "timing: {repetitions: 0}\n",
            "f.yaml:2:23: timing.repetitions: found '0'; allowed: a whole number from 1 to 1000000 in plain "
            "digits"},
        Refused{"Warmup", smallest + "timing: {warmup: -1}\n",
                "f.yaml:2:18: timing.warmup: found '-1'; allowed: a whole number from 0 to 1000000 in plain "
                "digits"},
        Refused{"Cache", smallest + "timing: {cache: hot}\n",
                "f.yaml:2:17: timing.cache: found 'hot'; allowed: cold, warm"},
        Refused{"TimingList", smallest + "timing: [10]\n",
                "f.yaml:2:9: timing: found a list; allowed: a map with the keys warmup, repetitions, cache"}),
    name_of);

std::string counts(int from, int to) {
  std::string list = "[";
  for (int i = from; i <= to; ++i) list += std::to_string(i) + (i == to ? "]" : ", ");
  return list;
}

INSTANTIATE_TEST_SUITE_P(
    Tune, RefusedExperiment,
    testing::Values(
        Refused{"TuneList", smallest + "tune: [1]\n",
                "f.yaml:2:7: tune: found a list; allowed: a map with the keys q, k, team, stages, observe"},
        Refused{"TuneZero", smallest + "tune: {q: [0]}\n",
                "f.yaml:2:12: tune.q[0]: found '0'; allowed: a whole number from 1 to 65536 in plain digits"},
        Refused{"TuneEmpty", smallest + "tune: {k: []}\n",
                "f.yaml:2:11: tune.k: found a list of 0 values; allowed: 1 to 64, or auto"},
        Refused{"TuneLong", smallest + "tune: {k: " + counts(1, 65) + "}\n",
                "f.yaml:2:11: tune.k: found a list of 65 values; allowed: 1 to 64, or auto"},
        Refused{"TuneTwice", smallest + "tune: {team: [2, 2]}\n",
                "f.yaml:2:18: tune.team[1]: repeats 2; allowed: each value once"},
        Refused{"TuneProduct",
                smallest + "tune: {q: " + counts(1, 64) + ", k: " + counts(1, 64) + ", team: [1, 2, 3]}\n",
                "f.yaml:2:7: tune: found 12288 configurations; allowed: at most 10000"},
        Refused{"ObserveMissing", smallest + "tune: {observe: {seq: 9}}\n",
                "f.yaml:2:17: tune.observe.batch: missing; allowed: a size, other than the problem's"},
        Refused{"ObserveNothing", smallest + "tune: {observe: {seq: 0, batch: 2}}\n",
                "f.yaml:2:23: tune.observe.seq: found '0'; allowed: a whole number from 1 to 2147483647 in "
                "plain digits"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Output, RefusedExperiment,
    testing::Values(
        Refused{"Key", smallest + "output: {jsn: a}\n",
                "f.yaml:2:10: output.jsn: unknown key; did you mean 'json'; allowed: json, csv, o, lse"},
        Refused{"CaseInReport", smallest + "output: {json: \"{case}.json\"}\n",
                "f.yaml:2:16: output.json: found the text \"{case}.json\"; allowed: a file name without "
                "braces; all "
                "cases go to one file"},
        Refused{"OtherPlaceholder", smallest + "output: {o: \"{name}.npy\"}\n",
                "f.yaml:2:13: output.o: found the text \"{name}.npy\"; allowed: a file name with no other "
                "braces than "
                "{case}"},
        Refused{"LoneBrace", smallest + "output: {o: \"{{case}.npy\"}\n",
                "f.yaml:2:13: output.o: found the text \"{{case}.npy\"; allowed: a file name with no other "
                "braces than "
                "{case}"},
        Refused{"NotNpy", smallest + "output: {o: o.txt}\n",
                "f.yaml:2:13: output.o: found 'o.txt'; allowed: a file name that ends in .npy"},
        Refused{"SeveralCases", smallest + "kernels: [naive, fused]\noutput: {lse: lse.npy}\n",
                "f.yaml:3:15: output.lse: found 'lse.npy'; allowed: a file name with {case} in it, as there "
                "are 2 "
                "cases"},
        Refused{"SameFileTwice", smallest + "output: {json: a, csv: ./a}\n",
                "f.yaml:2:24: output.csv: './a' is also output.json; allowed: a file of its own"},
        Refused{"SameFileForTwoResults", smallest + "output: {o: a.npy, lse: a.npy}\n",
                "f.yaml:2:25: output.lse: 'a.npy' is also output.o of b1_h1_n16_d64_fp32_none_auto; allowed: "
                "a file of "
                "its own"},
        Refused{
            "OverTheExperiment", smallest + "output: {json: f.yaml}\n",
            "f.yaml:2:16: output.json: 'f.yaml' is also the experiment itself; allowed: a file of its own"},
        Refused{"CaseWithoutQuotes", smallest + "output: {o: results/{case}.npy}\n",
                "f.yaml:2:21: not valid YAML: end of map flow not found; text with {case} needs quotes "
                "around it"}),
    name_of);

}  // namespace
}  // namespace flashpad::test
