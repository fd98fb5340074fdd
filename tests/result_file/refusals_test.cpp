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
      {"", "r.json:1:1: is empty; allowed: a file that flashpad run, bench, tune or profile"},
      {"{\"rows\":\n[,]}", "r.json:2:2: is no JSON"},
      {"{\n \"rows\": [\n  nonsense", "r.json:3:"},
      {"{\"rows\": [{\"case\": \"a\"", "r.json:1:23: ends before its JSON does"},
      {"\xff\xfe{", "r.json:1:1: is no JSON"},
      {"null", "r.json: found null; allowed"},
      {"[]", "r.json: found array; allowed: an object with `rows`"},
      {"{}", "r.json: found an empty object; allowed: an object with `rows`"},
      {R"({"row": []})", "r.json: found `row`; allowed: an object with `rows`"},
      {R"({"rows": 3})", "r.json: found `rows`; allowed"},
      {R"({"two\nlines": 3})", R"(r.json: found `two\nlines`; allowed)"},
      {R"({"rows": [{"case": "a", "median_s": 1e999}]})", "r.json: has a number that no double can hold"},
      {R"({"rows": []})", "r.json: has no rows; allowed: results of one case or more"},
      {R"({"searches": []})", "r.json: has no rows"},
      {R"({"benchmarks": []})", "r.json: has no rows"},
      {R"({"rows": [], "rows": []})",
       "r.json: has the key `rows` twice in one object; allowed: each key once"},
      {R"({"rows": [{"case": "a", "status": "ok", "case\u000a": 1, "case": "b"}]})",
       "r.json: has the key `case` twice"},
      {R"({"context": 1, "rows": []})", "r.json: context: found `1`; allowed: an object"},
      {R"({"rows": [1]})", "r.json: rows[0]: found `1`; allowed: an object"},
      {R"({"rows": [{"status": "ok"}]})", "r.json: rows[0].case: found nothing; allowed: some text"},
      {R"({"rows": [{"case": "", "status": "ok"}]})",
       "r.json: rows[0].case: found `\"\"`; allowed: some text"},
      {R"({"rows": [{"case": "a", "status": "ok", "median_s": "fast"}]})",
       "r.json: rows[0].median_s: found `\"fast\"`; allowed: a time from 1e-15 to 1e30 s, or null"},
      {R"({"rows": [{"case": "a", "status": "ok", "median_s": 0}]})", "r.json: rows[0].median_s: found `0`"},
      {R"({"rows": [{"case": "a", "status": "ok", "median_s": 1e-300}]})",
       "r.json: rows[0].median_s: found `1e-300`"},
      {R"({"rows": [{"case": "a", "status": "ok", "samples_s": [1, null]}]})",
       "r.json: rows[0].samples_s[1]: found `null`; allowed: a time from 1e-15 to 1e30 s"},
      {R"({"rows": [{"case": "a", "status": "ok", "spread": -0.5}]})",
       "r.json: rows[0].spread: found `-0.5`"},
      {R"({"rows": [{"case": "a", "status": "ok", "repetitions": 1.5}]})", "allowed: a whole number from 0"},
      {R"({"rows": [{"case": "a", "status": "ok", "repetitions": 4294967296}]})",
       "found `4294967296`; allowed: a whole number from 0 to 2147483647, or null"},
      {R"({"rows": [{"case": "a", "status": "ok", "tile": [64, 64]}]})",
       "r.json: rows[0].tile: found an array"},
      {R"({"rows": [{"case": "a\u0000\n", "status": "ok"}, {"case": "a\u0000\n", "status": "ok"}]})",
       R"(r.json: has the case `a\u0000\n` twice; allowed: each case once)"},
      {R"({"rows": [{"case": "a", "status": "ok"}, {"case": "b", "status": "fine"}]})",
       "r.json: rows[1].status: found `\"fine\"`; allowed: ok, failed, oom or skipped"},
      {R"({"rows": [{"case": "a", "kernel": "fused"}]})", "r.json: rows[0].status: found nothing"},
      {R"({"rows": [{"case": "a", "status": "ok", "seq_k": 1.5}]})",
       "r.json: rows[0].seq_k: found `1.5`; allowed: a whole number from 0 on, or null"},
      {R"({"rows": [{"case": "a", "status": "ok", "seq_k": 18446744073709551615}]})",
       "r.json: rows[0].seq_k: found `18446744073709551615`"},
      {R"({"rows": [{"case": "a", "status": "ok", "seq_q": -5, "seq_k": -5}]})",
       "r.json: rows[0].seq_q: found `-5`; allowed: a whole number from 0 on, or null"},
      {R"({"rows": [{"case": "a", "status": "ok", "median_s": -1}]})",
       "r.json: rows[0].median_s: found `-1`"},
      {R"({"rows": [{"case": "a", "status": "ok", "tflops": 1e308}]})",
       "r.json: rows[0].tflops: found `1e+308`"},
      {R"({"rows": [{"case": "a", "status": "ok", "verified": "yes"}]})",
       "r.json: rows[0].verified: found `\"yes\"`; allowed: true, false or null"},
      {R"({"rows": [{"status": "ok", "case": ["x"]}]})",
       "r.json: rows[0].case: found an array; allowed: text or null"},
      {R"({"context": {"backends": {}}, "rows": []})",
       "context.backends: found an object; allowed: an array or null"},
      {R"({"rows": [{"name": "a", "nq": 1, "round_ms": ["x", 1], "ms": 1}]})",
       "r.json: rows[0].round_ms[0]: found `\"x\"`; allowed: a time from 1e-15 to 1e30 s"},
      {R"({"benchmarks": [{"name": "x", "real_time": 1, "time_unit": "h"}]})",
       "r.json: benchmarks[0].time_unit: found `\"h\"`; allowed: s, ms, us or ns"},
      {R"({"searches": [{"case": "a", "status": "tuned", "winner": 3}]})",
       "r.json: searches[0].winner: found `3`; allowed: an object"},
      {R"({"benchmarks": [{"name": []}]})",
       "r.json: benchmarks[0].name: found an array; allowed: text or null"},
      {R"({"benchmarks": [{"name": "x", "real_time": 0}]})", "r.json: benchmarks[0].real_time: found `0`"},
      {R"({"benchmarks": [{"name": "x"}]})", "r.json: benchmarks[0].real_time: found nothing"},
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
  EXPECT_THAT(message("/dev/zero"), HasSubstr("/dev/zero: has more than 268435456 bytes"));
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
  std::string const found =
      message(file(R"({"rows": [{"case": "a", "status": ")" + std::string(100000, 'x') + "\"}]}"));
  EXPECT_LT(found.size(), 300u);
  EXPECT_THAT(found, HasSubstr("..."));
}

}  // namespace
}  // namespace flashpad::results
