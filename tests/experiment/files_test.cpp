// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files: the experiment itself, the user's tensors, and those that come with the project.
#include "support.hpp"

#include "tensor_file/npy.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace flashpad::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ExperimentFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string const test = testing::UnitTest::GetInstance()->current_test_info()->name();
    m_folder = fs::path(testing::TempDir()) / ("flashpad_experiment_" + test);
    fs::remove_all(m_folder);
    fs::create_directories(m_folder);
  }
  void TearDown() override { fs::remove_all(m_folder); }

  fs::path write(std::string const& name, std::string const& text) const {
    std::ofstream(m_folder / name, std::ios::binary) << text;
    return m_folder / name;
  }

  void write_tensor(std::string const& name, std::vector<std::int64_t> const& shape,
                    DType dtype = DType::fp16) const {
    std::size_t bytes = static_cast<std::size_t>(size_of(dtype));
    for (std::int64_t const extent : shape) bytes *= static_cast<std::size_t>(extent);
    write_npy(m_folder / name, shape, dtype, std::vector<std::byte>(bytes));
  }

  std::string error_of_file(fs::path const& file) const {
    try {
      read_experiment(file);
    } catch (Error const& error) {
      return error.what();
    }
    return "accepted";
  }

  /// The error of an experiment on q.npy, k.npy and v.npy with more lines in its problem, from line 2.
  std::string error_of_tensors(std::string const& more = "") const {
    fs::path const file =
        write("t.yaml", "problem:\n" + more + "  tensors:\n    q: q.npy\n    k: k.npy\n    v: v.npy\n");
    return error_of_file(file);
  }

  std::string place(std::string const& line_and_column) const {
    return (m_folder / "t.yaml").string() + ":" + line_and_column + ": ";
  }
  std::string path_of(std::string const& name) const { return (m_folder / name).string(); }

  fs::path m_folder;
};

TEST_F(ExperimentFiles, WhatIsNoReadableFileIsRefused) {
  std::string const allowed = "; allowed: a YAML file that describes an experiment";
  EXPECT_EQ(error_of_file(m_folder / "none.yaml"), path_of("none.yaml") + ": no such file" + allowed);
  EXPECT_EQ(error_of_file(m_folder), m_folder.string() + ": is a folder" + allowed);
  EXPECT_EQ(error_of_file(write("big.yaml", std::string(1048577, '#'))),
            path_of("big.yaml") + ": is longer than 1048576 bytes; allowed: at most 1048576");
  EXPECT_EQ(error_of_file(write("empty.yaml", "")),
            path_of("empty.yaml") +
                ":1:1: found nothing; allowed: an experiment, a map with the key problem at least");
}

TEST_F(ExperimentFiles, TheFileGivesNameAndPlace) {
  Experiment const experiment = read_experiment(write("some.name.yaml", smallest));
  EXPECT_EQ(experiment.file, m_folder / "some.name.yaml");
  EXPECT_EQ(experiment.name, "some.name");
}

TEST_F(ExperimentFiles, TensorsGiveShapeAndType) {
  write_tensor("q.npy", {2, 8, 5, 32});
  write_tensor("k.npy", {2, 4, 7, 32});
  write_tensor("v.npy", {2, 4, 7, 64});
  fs::path const file = write("t.yaml", "problem:\n  tensors: {q: q.npy, k: ./k.npy, v: " + path_of("v.npy") +
                                            "}\n  mask: [none, causal]\n");
  Experiment const experiment = read_experiment(file);
  EXPECT_THAT(case_names(experiment),
              ElementsAre("b2_h8kv4_n5k7_d32v64_fp16_none_auto", "b2_h8kv4_n5k7_d32v64_fp16_causal_auto"));
  Case const& c = experiment.cases[0];
  EXPECT_EQ(c.shape, (Shape{2, 8, 4, 5, 7, 32, 64}));
  EXPECT_EQ(c.dtype, DType::fp16);
  ASSERT_TRUE(c.tensors);
  EXPECT_EQ(c.tensors->q, m_folder / "q.npy")
      << "relative to the experiment's folder, not to the current one";
  EXPECT_TRUE(fs::equivalent(c.tensors->k, m_folder / "k.npy"));
  EXPECT_EQ(c.tensors->v, m_folder / "v.npy");
}

TEST_F(ExperimentFiles, TensorsFollowTheLayoutAndConvert) {
  write_tensor("q.npy", {2, 5, 8, 32});
  write_tensor("k.npy", {2, 7, 8, 32});
  write_tensor("v.npy", {2, 7, 8, 32});
  fs::path const file = write(
      "t.yaml",
      "problem: {dtype: [bf16, fp64], tensors: {q: q.npy, k: k.npy, v: v.npy}, layout: bnhd, scale: 1}\n");
  Experiment const experiment = read_experiment(file);
  EXPECT_THAT(case_names(experiment), ElementsAre("b2_h8_n5k7_d32_bf16_none_scale1_bnhd_auto",
                                                  "b2_h8_n5k7_d32_fp64_none_scale1_bnhd_auto"));
  EXPECT_EQ(experiment.cases[0].shape, (Shape{2, 8, 8, 5, 7, 32, 32}));
}

TEST_F(ExperimentFiles, TensorsCarryTheShapeAlone) {
  write_tensor("q.npy", {1, 8, 5, 32});
  write_tensor("k.npy", {1, 8, 5, 32});
  write_tensor("v.npy", {1, 8, 5, 32});
  for (std::string const key : {"batch", "heads", "kv_heads", "seq", "seq_q", "seq_k", "head_dim",
                                "value_dim", "distribution", "seed"}) {
    EXPECT_EQ(
        error_of_tensors("  " + key + ": 8\n"),
        place("2:3") + "problem." + key +
            ": found beside problem.tensors, which carry the shape and the values; allowed with them: dtype, "
            "mask, scale, layout");
  }
  EXPECT_EQ(error_of_tensors("  layout: [bhnd, bnhd]\n"),
            place("2:11") +
                "problem.layout: found a list; allowed: one value beside problem.tensors, the layout of the "
                "files");
  EXPECT_EQ(error_of_tensors(), "accepted");
}

TEST_F(ExperimentFiles, TensorsThatDoNotFitAreRefused) {
  write_tensor("q.npy", {1, 8, 5, 32});
  write_tensor("k.npy", {1, 8, 7, 32});
  write_tensor("v.npy", {1, 8, 6, 32});
  EXPECT_EQ(error_of_tensors(), place("5:8") + "problem.tensors.v: " + path_of("v.npy") +
                                    " has seq_k 6 in its shape (1, 8, 6, 32) as bhnd; allowed: 7, as in k");
  write_tensor("v.npy", {1, 4, 7, 32});
  EXPECT_EQ(error_of_tensors(),
            place("5:8") + "problem.tensors.v: " + path_of("v.npy") +
                " has kv_heads 4 in its shape (1, 4, 7, 32) as bhnd; allowed: 8, as in k");
  write_tensor("v.npy", {3, 8, 7, 32});
  EXPECT_EQ(error_of_tensors(), place("5:8") + "problem.tensors.v: " + path_of("v.npy") +
                                    " has batch 3 in its shape (3, 8, 7, 32) as bhnd; allowed: 1, as in q");
  write_tensor("v.npy", {1, 8, 7, 32}, DType::fp32);
  EXPECT_EQ(error_of_tensors(),
            place("5:8") + "problem.tensors.v: " + path_of("v.npy") + " holds fp32; allowed: fp16, as in q");
  write_tensor("k.npy", {1, 8, 7, 64});
  EXPECT_EQ(error_of_tensors(),
            place("4:8") + "problem.tensors.k: " + path_of("k.npy") +
                " has head_dim 64 in its shape (1, 8, 7, 64) as bhnd; allowed: 32, as in q");
  write_tensor("q.npy", {1, 9, 5, 32});
  write_tensor("k.npy", {1, 8, 7, 32});
  write_tensor("v.npy", {1, 8, 7, 32});
  EXPECT_EQ(error_of_tensors(), place("3:5") +
                                    "problem.tensors: kv_heads: 8 does not divide heads = 9; allowed: a "
                                    "divisor of heads (layout bhnd)");
}

TEST_F(ExperimentFiles, TensorFilesThatAreNotWhatTheyMustBeAreRefused) {
  write_tensor("q.npy", {1, 8, 32});
  write_tensor("k.npy", {1, 8, 7, 32});
  EXPECT_EQ(error_of_tensors(), place("3:8") + "problem.tensors.q: " + path_of("q.npy") +
                                    ": has 3 axes, shape (1, 8, 32); allowed: 4 axes");
  write_tensor("q.npy", {1, 8, 5, 32});
  EXPECT_EQ(error_of_tensors(),
            place("5:8") + "problem.tensors.v: " + path_of("v.npy") + ": no such file; allowed: a .npy file");
  EXPECT_EQ(error_of_file(write("t.yaml", "problem: {tensors: {q: q.npy, k: k.npy}}\n")),
            place("1:20") + "problem.tensors.v: missing; give the .npy files of q, k and v");
  EXPECT_EQ(error_of_file(write("t.yaml", "problem: {tensors: {q: q.npy, k: k.npy, v: 5, o: x}}\n")),
            place("1:47") + "problem.tensors.o: unknown key; allowed: q, k, v");
}

TEST_F(ExperimentFiles, ResultsDoNotReplaceInputs) {
  write_tensor("q.npy", {1, 8, 5, 32});
  write_tensor("k.npy", {1, 8, 5, 32});
  write_tensor("v.npy", {1, 8, 5, 32});
  std::string const tensors = "problem: {tensors: {q: q.npy, k: k.npy, v: v.npy}}\n";
  EXPECT_THAT(error_of_file(write("t.yaml", tensors + "output: {o: " + path_of("x/../k.npy") + "}\n")),
              HasSubstr("k.npy' is also problem.tensors.k; allowed: a file of its own"));
  EXPECT_THAT(error_of_file(write("t.yaml", tensors + "output: {csv: " + path_of("t.yaml") + "}\n")),
              HasSubstr("t.yaml' is also the experiment itself; allowed: a file of its own"));
}

TEST_F(ExperimentFiles, EveryInputOfTheProjectIsAnExperiment) {
  std::vector<std::string> names;
  for (fs::directory_entry const& entry : fs::directory_iterator(fs::path(FLASHPAD_SOURCE_DIR) / "inputs")) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    ASSERT_NO_THROW(names.push_back(read_experiment(entry.path()).name));
    EXPECT_EQ(names.back(), entry.path().stem()) << "the name is the file's";
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("quickstart", "flash", "benchmark", "real", "deltas",
                                                   "backends", "h200", "profile", "sweep", "tune",
                                                   "tune-fused", "tune-h200", "gpu"));
}

TEST_F(ExperimentFiles, TheQuickstartIsTheOneOfTheDocumentation) {
  Experiment const experiment = read_experiment(fs::path(FLASHPAD_SOURCE_DIR) / "inputs" / "quickstart.yaml");
  EXPECT_EQ(experiment.cases.size(), 32u);
  EXPECT_EQ(experiment.cases.front().name, "b2_h8_n512_d64_fp32_none_naive");
  EXPECT_EQ(experiment.cases.back().name, "b2_h8_n1024_d128_bf16_causal_fused");
  EXPECT_EQ(experiment.output.json, "results/quickstart.json");
}

TEST_F(ExperimentFiles, DeltasComparesWithAndWithoutSkipping) {
  Experiment const experiment = read_experiment(fs::path(FLASHPAD_SOURCE_DIR) / "inputs" / "deltas.yaml");
  EXPECT_THAT(
      case_names(experiment),
      testing::IsSupersetOf({"b1_h8_n2048_d64_fp32_none_naive", "b1_h8_n2048_d64_fp32_none_fused",
                             "b1_h8_n2048_d64_fp32_causal_fused", "b1_h8_n2048_d64_fp32_causal_fused_noskip",
                             "b1_h8_n2048_d64_fp32_causal_fused_t64x64"}));
}

}  // namespace
}  // namespace flashpad::test
