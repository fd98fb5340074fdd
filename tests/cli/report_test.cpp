// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `flashpad report` as a command: what it writes, and what it refuses before it writes anything.
#include "process.hpp"

#include <gmock/gmock.h>
#include <test_paths.hpp>

#include <cstdlib>

namespace flashpad::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReportTest : public SmallCli {};

TEST_F(ReportTest, MakesAPageOfWhatRunWrote) {
  ASSERT_EQ(flashpad({"run", "small.yaml", "--json", "rows.json", "--csv", "rows.csv"}).code, 0);
  Finished const finished = flashpad({"report", "rows.json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "wrote report.html\n");
  std::string const page = read("report.html");
  nlohmann::json const document = json("rows.json");
  for (nlohmann::json const& row : document.at("rows"))
    EXPECT_THAT(page, HasSubstr(">" + row.at("case").get<std::string>() + "</td>"));
}

TEST_F(ReportTest, ReadsWhatBenchWrote) {
  ASSERT_EQ(
      flashpad({"bench", "small.yaml", "--benchmark_out=bench.json", "--benchmark_min_time=0.001"}).code, 0);
  ASSERT_EQ(flashpad({"report", "bench.json", "-o", "bench.html"}).code, 0);
  EXPECT_THAT(read("bench.html"), HasSubstr("flashpad bench"));
}

TEST_F(ReportTest, WritesFiguresAlone) {
  Finished const finished = flashpad(
      {"report", FLASHPAD_SOURCE_DIR "/docs/results/h200-kernels.json", "--svg", "figures", "-o", "h.html"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  for (char const* name : {"bars", "roofline", "errors"}) {
    std::string const file = std::string("figures/") + name + ".svg";
    ASSERT_TRUE(exists(file)) << file;
    EXPECT_THAT(read(file), HasSubstr("</svg>"));
  }
}

TEST_F(ReportTest, RefusesBeforeItWrites) {
  write("other.json", "{\"rows\": [1]}");
  std::string const one_row = R"({"rows": [{"case": "a", "status": "ok"}]})";
  write("rows.json", one_row);
  write("empty.json", "{\"rows\": []}");
  std::vector<std::pair<std::vector<std::string>, char const*>> const mistakes = {
      {{}, "results is required"},
      {{"absent.json"}, "absent.json: cannot be read"},
      {{"rows.json", "other.json"}, "other.json: rows[0]: found `1`; allowed: an object"},
      {{"rows.json", "./rows.json"}, "results: './rows.json' is named twice; allowed: each file once"},
      {{"empty.json"}, "empty.json: has no rows"},
      {{"rows.json", "-o", "./rows.json"}, "--output: './rows.json' is also one of the results"},
      {{"rows.json", "-o", "/dev/null"}, "/dev/null: cannot be written: it is a device"},
      {{"rows.json", "-o", ""}, "--output: is empty"},
      {{FLASHPAD_SOURCE_DIR "/docs/results/h200-kernels.json", "--svg", "rows.json"},
       "rows.json/bars.svg: cannot be written"}};
  for (auto const& [options, message] : mistakes) {
    std::vector<std::string> arguments = {"report"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Finished const finished = flashpad(arguments);
    EXPECT_EQ(finished.code, 2) << message;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_FALSE(exists("report.html")) << message;
  }
  EXPECT_EQ(read("rows.json"), one_row);
}

TEST_F(ReportTest, PngNamesItsConverterWhereThereIsNone) {
  write("rows.json", R"({"rows": [{"case": "a", "status": "ok"}]})");
  std::string const path = std::getenv("PATH");
  ASSERT_EQ(::setenv("PATH", m_folder.c_str(), 1), 0);
  Finished const finished = flashpad({"report", "rows.json", "--png", "figures"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(finished.code, 2);
  expect_one_error_line(finished);
  EXPECT_THAT(finished.err, HasSubstr("--png: rsvg-convert is not in the PATH"));
  EXPECT_FALSE(exists("report.html"));
}

}  // namespace
}  // namespace flashpad::cli
