// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/process.hpp"
#include "connector_path.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace flashpad::cli {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;

struct Event {
  std::string what, name;
};

/// The driver under the connector, whose lines are events.
class WithConnector : public Cli {
 protected:
  WithConnector() {
    // Its name has changed; a release reads the one it knows.
    for (char const* variable : {"KOKKOS_PROFILE_LIBRARY", "KOKKOS_TOOLS_LIBS"})
      setenv(variable, FLASHPAD_CONNECTOR, 1);
    setenv("FLASHPAD_CONNECTOR_LOG", (m_folder / "events").c_str(), 1);
  }
  ~WithConnector() override {
    for (char const* variable : {"KOKKOS_PROFILE_LIBRARY", "KOKKOS_TOOLS_LIBS", "FLASHPAD_CONNECTOR_LOG"})
      unsetenv(variable);
  }

  Finished run(std::vector<std::string> const& arguments) {
    Finished const finished = flashpad(arguments);
    std::istringstream lines(read("events"));
    std::string line;
    while (std::getline(lines, line)) {
      std::size_t const space = line.find(' ');
      m_events.push_back({line.substr(0, space), line.substr(space + 1)});
    }
    return finished;
  }
  [[nodiscard]] std::vector<std::string> names(std::string const& what) const {
    std::vector<std::string> list;
    for (Event const& event : m_events) {
      if (event.what == what) list.push_back(event.name);
    }
    return list;
  }

  std::vector<Event> m_events;
};

class Connector : public WithConnector {
 protected:
  Connector() {
    write("e.yaml",
          "name: e\nproblem: {batch: 1, heads: 2, seq: 64, head_dim: 32, mask: [none, causal]}\n"
          "kernels: [naive, naive-vendor, fused, stats]\ntiming: {warmup: 1, repetitions: 2, cache: warm}\n");
    Finished const finished = run({"run", "e.yaml"});
    EXPECT_EQ(finished.code, 0) << finished.err;
  }
};

TEST_F(Connector, SeesEveryKernelByItsName) {
  ASSERT_THAT(names("init"), Contains("")) << "no connector was loaded";
  std::vector<std::string> const kernels = names("kernel");
  // Kokkos' own begin with its name. A kernel without a label would have its functor's mangled or spelt type.
  EXPECT_THAT(kernels, Each(MatchesRegex("(flashpad::[a-z_:]+|Kokkos.*)")));
  EXPECT_THAT(kernels, IsSupersetOf({"flashpad::fused", "flashpad::stats", "flashpad::naive::softmax",
                                     "flashpad::naive_vendor::softmax"}));
}

TEST_F(Connector, SeesCasesAndCallsAsRegions) {
  std::vector<std::string> const regions = names("push");
  EXPECT_THAT(regions,
              IsSupersetOf({"b1_h2_n64_d32_fp32_none_fused", "b1_h2_n64_d32_fp32_causal_naive",
                            "flashpad::first_call", "flashpad::timed_calls", "flashpad::attention"}));
  EXPECT_EQ(regions.size(), names("pop").size());
  // Each case: one verified call, one that is counted, one to warm up, two that are timed.
  EXPECT_EQ(std::count(regions.begin(), regions.end(), "flashpad::attention"), 8 * 5);
  EXPECT_EQ(std::count(regions.begin(), regions.end(), "flashpad::timed_calls"), 8);
}

TEST_F(Connector, SeesTheKernelsOfACallInsideIt) {
  int depth = 0;
  std::vector<std::string> open;
  for (Event const& event : m_events) {
    if (event.what == "push") open.push_back(event.name);
    if (event.what == "pop") {
      ASSERT_FALSE(open.empty());
      open.pop_back();
    }
    if (event.what != "kernel" || event.name != "flashpad::fused") continue;
    EXPECT_THAT(open, Contains("flashpad::attention"));
    ++depth;
  }
  EXPECT_GT(depth, 0);
  EXPECT_TRUE(open.empty());
}

// It answers with the last candidate, whatever it is asked about.
TEST_F(WithConnector, ATuningToolChoosesAmongWhatIsNotPruned) {
  if (!FLASHPAD_KOKKOS_TUNES) GTEST_SKIP() << "Kokkos was built without Kokkos_ENABLE_TUNING";
  write("t.yaml",
        "name: t\nproblem: {batch: 1, heads: 2, seq: 64, head_dim: 32}\nkernels: fused\n"
        "backend: " FLASHPAD_HOST_BACKEND
        "\n"
        "tune: {q: [16, 32, 64, 4096], k: [32, 64]}\ntiming: {warmup: 1, repetitions: 3, cache: warm}\n");
  Finished const finished = run({"tune", "t.yaml", "--cache", "cache.json", "--json", "t.json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  std::size_t able = 0;
  double last = 0;
  nlohmann::json const rows = json("t.json")["rows"];
  for (auto const& row : rows) {
    if (row["pruned"] == true) continue;
    ++able;
    last = row["median_s"];
  }
  ASSERT_LT(able, rows.size()) << "4096 query rows are more than there are";
  EXPECT_THAT(names("output"), Contains("flashpad.configuration " + std::to_string(able)));
  std::vector<std::string> const asked = names("ask");
  ASSERT_EQ(asked.size(), able - 2) << "the first is ours, and the last was timed when its turn came";
  for (std::string const& inputs : asked) {
    EXPECT_THAT(inputs, ::testing::HasSubstr("fused_"));
    EXPECT_THAT(inputs, ::testing::HasSubstr("b1_h2_n64_d32_fp32_none"));
  }
  std::vector<std::string> const told = names("told");
  ASSERT_EQ(told.size(), asked.size());
  EXPECT_EQ(std::stod(told.front()), last);
}

}  // namespace
}  // namespace flashpad::cli
