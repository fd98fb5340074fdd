// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/json.hpp"

#include "rows.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>

namespace flashpad::report {
namespace {

std::vector<std::string> const promised_names = {
    "case",          "kernel",          "backend",   "engine",
    "dtype",         "batch",           "heads",     "kv_heads",
    "seq_q",         "seq_k",           "head_dim",  "value_dim",
    "mask",          "layout",          "tile",      "tile_from",
    "status",        "reason",          "median_s",  "min_s",
    "repetitions",   "flops",           "tflops",    "bytes_model",
    "bytes_tiles",   "bytes_measured",  "intensity", "roof",
    "roof_fraction", "max_abs_err",     "rel_err",   "lse_max_err",
    "verified",      "workspace_bytes", "launches",  "speedup_vs_naive",
    "byte_ratio"};

TEST(Json, HasEveryPromisedName) {
  nlohmann::ordered_json const json = to_json(Row{});
  for (std::string const& name : promised_names) EXPECT_TRUE(json.contains(name)) << name;
}

TEST(Json, HoldsTheValuesOfTheRow) {
  nlohmann::ordered_json const json = to_json(full_row());
  EXPECT_EQ(json["case"], "quick-n512-fused");
  EXPECT_EQ(json["engine"], "portable");
  EXPECT_EQ(json["seq_k"], 640);
  EXPECT_EQ(json["value_dim"], 96);
  EXPECT_EQ(json["tile"], "64x128");
  EXPECT_EQ(json["status"], "ok");
  EXPECT_EQ(json["median_s"], 0.00125);
  EXPECT_EQ(json["samples_s"], (std::vector<double>{0.0013, 0.00125, 0.001}));
  EXPECT_EQ(json["verified"], true);
  EXPECT_EQ(json["launches"], 1);
  EXPECT_EQ(json["roof"], "compute");
  EXPECT_EQ(json["byte_ratio"], 9);
  EXPECT_EQ(json["profiler"], "ncu");
  EXPECT_EQ(json["profiled_calls"], 100);
  EXPECT_EQ(json["dram_write_bytes"], 2e6);
  EXPECT_EQ(json["l2_hit_rate"], 0.875);
  EXPECT_EQ(json["saved_measured"], 7.5);
  EXPECT_TRUE(json["bytes_measured"].is_null());
  int set = 0;
  for (auto const& value : json) set += value.is_null() ? 0 : 1;
  EXPECT_EQ(set, static_cast<int>(json.size()) - 1) << "every field but bytes_measured is set in full_row()";
}

TEST(Json, WritesNullForWhatIsNotThere) {
  nlohmann::ordered_json const json = to_json(Row{});
  for (char const* name :
       {"median_s", "tile", "engine", "verified", "roof", "launches", "bytes_measured", "flag"}) {
    EXPECT_TRUE(json[name].is_null()) << name;
  }
}

TEST(Json, NeverWritesBareNanOrInfinity) {
  Row row = full_row();
  row.max_abs_err = std::numeric_limits<double>::quiet_NaN();
  row.rel_err = std::numeric_limits<double>::infinity();
  row.reason = "caf\xe9";  // not UTF-8
  std::string const text = json_document({{"date", "today"}}, {row});
  nlohmann::json const document = nlohmann::json::parse(text);
  EXPECT_TRUE(document["rows"][0]["max_abs_err"].is_null());
  EXPECT_TRUE(document["rows"][0]["rel_err"].is_null());
  EXPECT_EQ(document["context"]["date"], "today");
}

TEST(Json, DocumentOfNoRowsHasAnEmptyList) {
  nlohmann::json const document = nlohmann::json::parse(json_document({}, {}));
  EXPECT_TRUE(document["rows"].is_array());
  EXPECT_TRUE(document["rows"].empty());
}

TEST(Csv, HasTheNamesOfTheJson) {
  std::istringstream lines(csv_document({full_row()}));
  std::string header;
  std::getline(lines, header);
  std::string expected;
  nlohmann::ordered_json json = to_json(Row{});
  json.erase("samples_s");
  for (auto it = json.begin(); it != json.end(); ++it) expected += (expected.empty() ? "" : ",") + it.key();
  EXPECT_EQ(header, expected);
}

TEST(Csv, QuotesWhatNeedsIt) {
  Row row = full_row();
  row.reason = "said \"no\", twice";
  std::string const text = csv_document({row});
  EXPECT_THAT(text, ::testing::HasSubstr(",\"window[3,0]\","));
  EXPECT_THAT(text, ::testing::HasSubstr(",\"said \"\"no\"\", twice\","));
  EXPECT_THAT(text, ::testing::HasSubstr(",0.00125,"));
  EXPECT_THAT(text, ::testing::HasSubstr(",true,"));
}

TEST(Csv, LeavesNullEmpty) {
  Row row;
  row.case_name = "c";
  row.max_abs_err = std::numeric_limits<double>::quiet_NaN();
  std::istringstream lines(csv_document({row}));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  EXPECT_EQ(line.substr(0, 6), "c,,,,,");
  EXPECT_EQ(line.find("nan"), std::string::npos);
  EXPECT_EQ(line.find("null"), std::string::npos);
}

}  // namespace
}  // namespace flashpad::report
