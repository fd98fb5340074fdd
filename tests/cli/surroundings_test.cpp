// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the driver is started with: streams that are closed or full, variables, and names of what is no file.
#include "process.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace flashpad::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Surroundings : public Cli {
 protected:
  Surroundings() {
    write("small.yaml",
          "name: small\nproblem: {batch: 1, heads: 1, seq: 32, head_dim: 16}\nkernels: fused\n"
          "timing: {warmup: 0, repetitions: 1, cache: warm}\n");
  }
};

// An error that cannot be said ends the program as it would have been, and not by abort().
TEST_F(Surroundings, WithoutStandardErrorTheExitCodesStay) {
  std::vector<std::pair<std::vector<std::string>, int>> const commands = {
      {{"run", "absent.yaml"}, 2},
      {{"check", "absent.yaml"}, 2},
      {{"bench", "absent.yaml"}, 2},
      {{"compare", "absent.json", "absent.json"}, 2},
      {{"tune", "absent.yaml"}, 2},
      {{"explain", "absent.yaml"}, 2},
      {{"report", "absent"}, 2},
      {{"profile", "absent.yaml"}, 2},
      {{"walk"}, 2},
      {{"info", "--kokkos-x"}, 2}};
  for (auto const& [arguments, code] : commands) {
    EXPECT_EQ(flashpad_after([] { close(2); }, arguments).code, code) << arguments[0] << " 2>&-";
    EXPECT_EQ(flashpad_after([] { dup2(open("/dev/full", O_WRONLY), 2); }, arguments).code, code)
        << arguments[0] << " 2>/dev/full";
  }
}

TEST_F(Surroundings, WithoutAnyStreamOutputIsLostAndFilesAreWhole) {
  auto const close_all = [] {
    for (int const stream : {0, 1, 2}) close(stream);
  };
  std::vector<std::vector<std::string>> const commands = {{"run", "small.yaml", "--json", "r.json"},
                                                          {"check", "small.yaml"},
                                                          {"explain", "small.yaml"},
                                                          {"--help"}};
  for (auto const& arguments : commands) {
    EXPECT_EQ(flashpad_after(close_all, arguments).code, 1) << arguments[0];
  }
  EXPECT_EQ(json("r.json")["rows"].size(), 1u) << "nothing but the report is in its file";
}

TEST_F(Surroundings, WhatIsNoNumberOfThreadsIsRefused) {
  for (std::string const value :
       {"-1", "abc", "", "1.5", "2147483648", "0", "513", "4,", ",4", "4,0", "4,x"}) {
    Finished const finished = flashpad_with({{"OMP_NUM_THREADS", value}}, {"run", "small.yaml"});
    EXPECT_EQ(finished.code, 2) << value;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("OMP_NUM_THREADS: found '" + value + "'; allowed: a whole number"));
  }
  for (std::string const value : {"-1", "abc", "", "1.5", "0", "513", "4,2"}) {
    Finished const finished = flashpad_with({{"KOKKOS_NUM_THREADS", value}}, {"run", "small.yaml"});
    EXPECT_EQ(finished.code, 2) << value;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("KOKKOS_NUM_THREADS: found '" + value + "'"));
  }
  EXPECT_EQ(flashpad_with({{"OMP_NUM_THREADS", " 1 , 2"}}, {"run", "small.yaml"}).code, 0);
}

TEST_F(Surroundings, AToolThatCannotBeLoadedIsRefused) {
  std::string const flag =
      flashpad({"info", "--kokkos-x"}).err.find("--kokkos-tools-libs") == std::string::npos
          ? "--kokkos-tools-library"
          : "--kokkos-tools-libs";
  for (std::string const name : {"./absent.so", "absent.so"}) {
    Finished const finished = flashpad_with({{"KOKKOS_PROFILE_LIBRARY", name}}, {"run", "small.yaml"});
    EXPECT_EQ(finished.code, 2);
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("KOKKOS_PROFILE_LIBRARY: cannot be loaded: " + name));
    EXPECT_THAT(finished.out, IsEmpty());
    Finished const by_flag = flashpad({"run", "small.yaml", flag + "=" + name});
    EXPECT_EQ(by_flag.code, 2);
    expect_one_error_line(by_flag);
    EXPECT_THAT(by_flag.err, HasSubstr(flag + ": cannot be loaded: " + name));
  }
  Finished const by_other_name = flashpad_with({{"KOKKOS_TOOLS_LIBS", "absent.so"}}, {"run", "small.yaml"});
  EXPECT_EQ(by_other_name.code, 2) << "which Kokkos before 3.7 does not read";
  expect_one_error_line(by_other_name);
  EXPECT_THAT(by_other_name.err, HasSubstr("KOKKOS_TOOLS_LIBS: "));
  EXPECT_EQ(flashpad_with({{"KOKKOS_PROFILE_LIBRARY", ""}}, {"run", "small.yaml"}).code, 0);
}

TEST_F(Surroundings, WhatIsNoFileIsCalledWhatItIs) {
  ASSERT_EQ(mkfifo((m_folder / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", m_folder / "loop");
  std::vector<std::pair<std::vector<std::string>, char const*>> const mistakes = {
      {{"check", "fifo"}, "fifo: is a FIFO; allowed: a YAML file"},
      {{"compare", "fifo", "fifo"}, "fifo: is a FIFO; allowed: a file"},
      {{"check", "loop"}, "loop: cannot be read: Too many levels of symbolic links"},
      {{"check", ""}, "FILE: is empty"},
      {{"run", ""}, "FILE: is empty"}};
  for (auto const& [arguments, message] : mistakes) {
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2) << message;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr(message));
  }
}

TEST_F(Surroundings, AnExperimentMayComeFromAPipe) {
  Finished const finished = flashpad_after(
      [] {
        int ends[2] = {};
        std::string const text = "problem: {seq: 32, head_dim: 16}\n";
        bool const piped = pipe(ends) == 0 && ::write(ends[1], text.data(), text.size()) > 0;
        if (!piped || dup2(ends[0], 0) < 0) _exit(126);
        close(ends[1]);
      },
      {"check", "/dev/stdin"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("valid, 1 cases"));
}

}  // namespace
}  // namespace flashpad::cli
