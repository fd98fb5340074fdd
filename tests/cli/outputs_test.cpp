// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that `flashpad run` writes, and those that it refuses to.
#include "process.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

namespace flashpad::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OutputsTest : public SmallCli {};

TEST_F(OutputsTest, CsvHasTheRowsOfTheJson) {
  ASSERT_EQ(flashpad({"run", "small.yaml"}).code, 0);
  std::string const csv = read("results/small.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_EQ(csv.rfind("case,kernel,backend,engine,dtype,batch,", 0), 0u);
}

TEST_F(OutputsTest, OptionsReplaceTheFilesOutputs) {
  ASSERT_EQ(flashpad({"run", "small.yaml", "--json", "a.json", "--csv", "b/c.csv", "--filter", "n64"}).code,
            0);
  EXPECT_THAT(left_behind(), ElementsAre("a.json", "b"));
}

TEST_F(OutputsTest, OptionsAreRefusedForWhatTheFilesOutputsAre) {
  std::vector<std::pair<std::vector<std::string>, char const*>> const mistakes = {
      {{"--json", "small.yaml"}, "--json: 'small.yaml' is also the experiment itself"},
      {{"--csv", "./small.yaml"}, "--csv: './small.yaml' is also the experiment itself"},
      {{"--csv", "link.yaml"}, "--csv: 'link.yaml' is also the experiment itself"},
      {{"--json", "x", "--csv", "./x"}, "--csv: './x' is also --json"},
      {{"--json", "results/small.csv"}, "output.csv: 'results/small.csv' is also --json"},
      {{"--json", "{case}.json"}, "--json: found '{case}.json'"},
      {{"--json", "o.npy", "--filter", "n64", "--set", "kernels=naive", "--set", "problem.seq=64", "--set",
        "output.o=o.npy"},
       "--json: 'o.npy' is also output.o of "},
      {{"--json", "/dev/null"}, "/dev/null: cannot be written: it is a device"}};
  std::filesystem::create_symlink("small.yaml", m_folder / "link.yaml");
  for (auto const& [options, message] : mistakes) {
    std::vector<std::string> arguments = {"run", "small.yaml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2) << message;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr(message));
  }
  EXPECT_EQ(read("small.yaml"), small);
  EXPECT_THAT(left_behind(), ElementsAre("link.yaml"));
}

TEST_F(OutputsTest, OptionsDoNotReplaceAnInput) {
  ASSERT_EQ(flashpad({"run", "small.yaml", "--set", "kernels=naive", "--set", "problem.seq=32", "--set",
                      "output.o=t.npy"})
                .code,
            0);
  std::string const before = read("t.npy");
  write("own.yaml", "problem: {tensors: {q: t.npy, k: t.npy, v: t.npy}}\nkernels: fused\n");
  for (char const* option : {"--json", "--csv"}) {
    Finished const finished = flashpad({"run", "own.yaml", option, "t.npy"});
    EXPECT_EQ(finished.code, 2);
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("problem.tensors.q"));
  }
  EXPECT_EQ(read("t.npy"), before);
}

TEST_F(OutputsTest, WritesTheResultsAsked) {
  Finished const finished =
      flashpad({"run", "small.yaml", "--filter", "n64", "--set", "output.o='o_{case}.npy'", "--set",
                "output.lse='lse_{case}.npy'", "--set", "problem.dtype=bf16"});
  ASSERT_EQ(finished.code, 0) << finished.err << finished.out;
  std::vector<std::string> const files = left_behind();
  ASSERT_EQ(files.size(), 5u) << "results, and two tensors of two kernels";
  for (std::string const& file : files) {
    if (file == "results") continue;
    std::size_t const elements = file[0] == 'o' ? 64 * 32 : 64;
    EXPECT_EQ(read(file).size() % 64, elements * 4 % 64);
    EXPECT_GT(read(file).size(), elements * 4) << file;
    EXPECT_THAT(read(file), HasSubstr("'descr': '<f4'"));
  }
}

TEST_F(OutputsTest, UnwritableResultsAreRefusedBeforeAnythingRuns) {
  write("plain", "");
  Finished const finished = flashpad({"run", "small.yaml", "--json", "plain/r.json"});
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("plain/r.json"));
  EXPECT_THAT(finished.out, IsEmpty());
}

// A limit on the size of files stands for a disk that is full by then; the terminal is no file.
TEST_F(OutputsTest, WhatCannotBeWrittenAtTheEndIsOnTheScreen) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto const signal_before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const lower{64, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &lower);
  Finished const finished =
      flashpad_on_terminal({"run", "small.yaml", "--json", "a.json", "--filter", "n64"});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signal_before);
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("cases: "));
  EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("wrote a.json")));
  EXPECT_THAT(finished.out, HasSubstr("flashpad: error: a.json: cannot be written: File too large"));
  EXPECT_FALSE(exists("a.json"));
}

}  // namespace
}  // namespace flashpad::cli
