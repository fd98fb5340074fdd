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

}  // namespace
}  // namespace flashpad::cli
