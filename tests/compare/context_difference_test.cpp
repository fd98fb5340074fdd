// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/context_difference.hpp"

#include <gmock/gmock.h>

namespace flashpad::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Measurements with(std::string const& context, std::string const& writer = "flashpad run") {
  return {"f.json", writer, nlohmann::json::parse(context), {}};
}

std::vector<std::string> names(std::vector<Difference> const& differences) {
  std::vector<std::string> list;
  for (Difference const& difference : differences) list.push_back(difference.name);
  return list;
}

TEST(Differences, AreTheFactsThatAreNotTheSame) {
  auto const found = differences(
      {with(
           R"({"git_revision": "aa", "cpu": "x", "kokkos_version": "3.4", "date": "monday", "crossovers": ["n1"], "cpu_governor": null})"),
       with(
           R"({"git_revision": "bb", "cpu": "x", "kokkos_version": "5.2", "date": "friday", "cpu_governor": "performance"})")});
  EXPECT_THAT(names(found), ElementsAre("cpu_governor", "git_revision", "kokkos_version"));
  EXPECT_THAT(found[1].values, ElementsAre("aa", "bb"));
  EXPECT_THAT(found[0].values, ElementsAre("-", "performance"));
}

TEST(Differences, ReachIntoTheBackends) {
  auto const found =
      differences({with(R"({"backends": [{"name": "cuda", "device": "H200", "concurrency": 8}]})"),
                   with(R"({"backends": [{"name": "cuda", "device": "A100", "concurrency": 8}]})")});
  EXPECT_THAT(names(found), ElementsAre("backends.cuda.device"));
}

TEST(Differences, OfMeasuredNumbersBeginAtFivePerCent) {
  EXPECT_THAT(differences({with(R"({"cpu_mhz": 2600.0})"), with(R"({"cpu_mhz": 2650.5})")}), IsEmpty());
  EXPECT_THAT(names(differences({with(R"({"cpu_mhz": 2600.0})"), with(R"({"cpu_mhz": 1800.5})")})),
              ElementsAre("cpu_mhz"));
  EXPECT_THAT(names(differences({with(R"({"cores": 64})"), with(R"({"cores": 65})")})), ElementsAre("cores"));
}

TEST(Differences, OfAnotherWriterAreThoseOfSharedFacts) {
  auto const found = differences({with(R"({"cpu": "x", "cores": 2, "blas_threads": 2})"),
                                  with(R"({"cpu": "y", "cores": "2", "num_cpus": 2})", "Google Benchmark")});
  EXPECT_THAT(names(found), ElementsAre("cpu")) << "Google Benchmark keeps numbers as text";
}

TEST(Differences, SurviveNestedText) {
  std::string const deep = "{\"backends\": \"" + std::string(100000, '[') + "\"}";
  EXPECT_THAT(names(differences({with(deep), with("{\"backends\": \"x\"}")})), ElementsAre("backends"));
}

}  // namespace
}  // namespace flashpad::compare
