// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json_files.hpp"

#include "result_file/result_file.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <utility>
#include <vector>

namespace flashpad::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Refusals : public JsonFiles {
 protected:
  static std::string message(std::filesystem::path const& path) {
    try {
      read(path);
    } catch (Error const& error) {
      return error.what();
    }
    return "nothing was refused";
  }
};

TEST_F(Refusals, NameThePlaceWhatWasFoundAndWhatIsAllowed) {
  std::vector<std::pair<char const*, char const*>> const mistakes = {
      {"", "r.json:1: is no JSON from byte 1 on"},
      {"{\"rows\":\n[,]}", "r.json:2: is no JSON"},
      {"[]", "r.json: found array; allowed: an object with `rows`"},
      {"{}", "r.json: found an empty object; allowed: an object with `rows`"},
      {R"({"row": []})", "r.json: found `row`; allowed: an object with `rows`"},
      {R"({"rows": 3})", "r.json: found `rows`; allowed"},
      {R"({"two\nlines": 3})", R"(r.json: found `two\nlines`; allowed)"},
      {R"({"rows": [{"case": "a", "median_s": 1e999}]})", "r.json: has a number that no double can hold"},
      {R"({"context": 1, "rows": []})", "r.json: context: found `1`; allowed: an object"},
      {R"({"rows": [1]})", "r.json: rows[0]: found `1`; allowed: an object"},
      {R"({"rows": [{"status": "ok", "median_s": "fast"}]})",
       "r.json: rows[0].median_s: found `\"fast\"`; allowed: a number from 0 to 1e30, or null"},
      {R"({"rows": [{"status": "ok"}, {"status": "fine"}]})",
       "r.json: rows[1].status: found `\"fine\"`; allowed: ok, failed, oom or skipped"},
      {R"({"rows": [{"kernel": "fused"}]})", "r.json: rows[0].status: found nothing"},
      {R"({"rows": [{"status": "ok", "seq_k": 1.5}]})",
       "r.json: rows[0].seq_k: found `1.5`; allowed: a whole number from 0 on, or null"},
      {R"({"rows": [{"status": "ok", "seq_k": 18446744073709551615}]})",
       "r.json: rows[0].seq_k: found `18446744073709551615`"},
      {R"({"rows": [{"status": "ok", "seq_q": -5, "seq_k": -5}]})",
       "r.json: rows[0].seq_q: found `-5`; allowed: a whole number from 0 on, or null"},
      {R"({"rows": [{"status": "ok", "median_s": -1}]})", "r.json: rows[0].median_s: found `-1`"},
      {R"({"rows": [{"status": "ok", "tflops": 1e308}]})", "r.json: rows[0].tflops: found `1e+308`"},
      {R"({"rows": [{"status": "ok", "verified": "yes"}]})",
       "r.json: rows[0].verified: found `\"yes\"`; allowed: true, false or null"},
      {R"({"rows": [{"status": "ok", "case": ["x"]}]})",
       "r.json: rows[0].case: found an array; allowed: text or null"},
      {R"({"context": {"backends": {}}, "rows": []})",
       "context.backends: found an object; allowed: an array or null"},
      {R"({"rows": [{"nq": 1, "round_ms": ["x", 1], "ms": 1}]})",
       "r.json: rows[0].round_ms: found an array; allowed: an array of numbers"},
      {R"({"benchmarks": [{"name": "x", "real_time": 1, "time_unit": "h"}]})",
       "r.json: benchmarks[0].time_unit: found `\"h\"`; allowed: s, ms, us or ns"},
      {R"({"searches": [], "rows": [{"search": 0}]})",
       "r.json: rows[0].search: found `0`; allowed: the number of one"},
      {R"({"searches": [], "rows": [{"case": "x"}]})",
       "r.json: rows[0].case: found `\"x\"`; allowed: the case of one of the searches"}};
  for (auto const& [text, expected] : mistakes) {
    std::string const found = message(file(text));
    EXPECT_THAT(found, HasSubstr(expected)) << text;
    EXPECT_THAT(found, Not(HasSubstr("\n"))) << text;
    EXPECT_LT(found.size(), 400u) << text;
  }
}

TEST_F(Refusals, WhatIsNoFile) {
  EXPECT_THAT(message(m_folder / "absent.json"), HasSubstr("absent.json: cannot be read: No such file"));
  EXPECT_THAT(message(m_folder), HasSubstr("is a folder; allowed: a file"));
}

TEST_F(Refusals, NestedBrackets) {
  std::string const bomb(200000, '[');
  EXPECT_THAT(message(file(bomb)), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(message(file(R"({"rows": [{"status": "ok", "case": )" + bomb)),
              HasSubstr("nested more than 32 deep"));
}

TEST_F(Refusals, MoreRowsThanAnyoneReads) {
  std::string text = R"({"rows": [{"status":"ok"})";
  for (std::size_t i = 0; i < most_rows; ++i) text += R"(,{"status":"ok"})";
  EXPECT_THAT(message(file(text + "]}")),
              HasSubstr(fmt::format("rows: {} rows; allowed: at most {}", most_rows + 1, most_rows)));
}

TEST_F(Refusals, LongValuesAreCut) {
  std::string const found = message(file(R"({"rows": [{"status": ")" + std::string(100000, 'x') + "\"}]}"));
  EXPECT_LT(found.size(), 300u);
  EXPECT_THAT(found, HasSubstr("..."));
}

}  // namespace
}  // namespace flashpad::results
