// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/compare.hpp"

#include <flashpad/error.hpp>

#include "compare/text.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace flashpad::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Measurement row(std::string const& name, double first, double step, int count,
                std::map<std::string, std::string> facts = {}) {
  Measurement m;
  m.name = name;
  m.facts = std::move(facts);
  m.status = "ok";
  for (int i = 0; i < count; ++i) m.samples.push_back(first + step * i);
  m.seconds = first + step * (count - 1) / 2;
  m.repetitions = count;
  return m;
}

Measurements file(std::string const& label, std::vector<Measurement> rows) {
  return {label, "flashpad run", nlohmann::json::object(), std::move(rows)};
}

Measurement without_time(std::string const& name, std::string const& status) {
  Measurement m;
  m.name = name;
  m.status = status;
  return m;
}

Rules by(std::string const& fact, std::string const& filter = "") {
  Rules rules;
  rules.by = fact;
  rules.filter = filter;
  return rules;
}

Rules no_slower_than(double share) {
  Rules rules;
  rules.fail_if_slower = share;
  return rules;
}

std::string refusal(std::vector<Measurements> const& files, Rules const& rules) {
  try {
    compare(files, rules);
  } catch (Error const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Compare, PutsCasesOfTheSameNameSideBySide) {
  std::vector<Measurements> const files = {file("a", {row("x", 1, 0.01, 10), row("y", 1, 0.01, 10),
                                                      row("z", 1, 0.01, 10), row("only-a", 1, 0, 10)}),
                                           file("b", {row("z", 2, 0.01, 10), row("x", 0.5, 0.01, 10),
                                                      row("y", 1.001, 0.01, 10), row("only-b", 1, 0, 10)})};
  Comparison const result = compare(files, {});
  EXPECT_THAT(result.columns, ElementsAre("a", "b"));
  ASSERT_EQ(result.lines.size(), 5u);
  EXPECT_EQ(result.lines[0].name, "x");
  EXPECT_EQ(result.lines[0].cells[0].verdict, Verdict::base);
  EXPECT_EQ(result.lines[0].cells[1].verdict, Verdict::faster);
  EXPECT_EQ(result.lines[1].cells[1].verdict, Verdict::same);
  EXPECT_EQ(result.lines[2].cells[1].verdict, Verdict::slower);
  EXPECT_EQ(result.lines[3].cells[1].verdict, Verdict::missing);
  EXPECT_EQ(result.lines[4].name, "only-b");
  double const x = 0.545 / 1.045;
  double const y = 1.046 / 1.045;
  double const z = 2.045 / 1.045;
  EXPECT_NEAR(*result.lines[0].cells[1].ratio, x, 1e-12);
  EXPECT_NEAR(*result.geometric_means[1], std::cbrt(x * y * z), 1e-12);
  EXPECT_EQ(result.compared[1], 3u);
}

TEST(Compare, NamesWhatOnlyOneFileHas) {
  std::vector<Measurements> const files = {file("a", {row("x", 1, 0.01, 10), row("only-a", 1, 0, 10)}),
                                           file("b", {row("x", 1, 0.01, 10), row("only-b", 1, 0, 10)})};
  std::string const shown = text(files, {}, compare(files, {}), {});
  EXPECT_THAT(shown, HasSubstr("only in A: only-a\n"));
  EXPECT_THAT(shown, HasSubstr("only in B: only-b\n"));
}

TEST(Compare, TellsAnotherTileBehindTheSameName) {
  std::vector<Measurements> const files = {file("a", {row("x", 1, 0.01, 10, {{"tile", "64x64"}})}),
                                           file("b", {row("x", 1, 0.01, 10, {{"tile", "128x64"}})})};
  EXPECT_THAT(text(files, {}, compare(files, {}), {}),
              HasSubstr("tile 64x64 in A, 128x64 in B (accumulator ?, ?): x\n"));
}

// One tile takes half of a lane's registers where a wavefront has twice the lanes.
TEST(Compare, ExplainsWinningTilesByWhatTheyTakeOnChip) {
  auto const of = [](char const* backend, char const* tile) {
    return std::map<std::string, std::string>{
        {"backend", backend}, {"tile", tile}, {"head_dim", "128"}, {"dtype", "bf16"}, {"team", "4"}};
  };
  std::vector<Measurements> const files = {file("a", {row("x", 1, 0.01, 10, of("cuda", "64x64"))}),
                                           file("b", {row("x", 1, 0.01, 10, of("hip", "128x64"))})};
  EXPECT_THAT(text(files, {}, compare(files, {}), {}),
              HasSubstr("(accumulator 32.00 KiB or 64 registers of each of 4 x 32 lanes, 64.00 KiB or 64 "
                        "registers of each of 4 x 64 lanes): x\n"));
}

TEST(Compare, GivesTheKernelOfStatisticsNoAccumulator) {
  std::map<std::string, std::string> facts = {{"kernel", "stats"}, {"head_dim", "64"}, {"tile", "64x64"}};
  Measurements const a = file("a", {row("x", 1, 0.01, 10, facts)});
  facts["tile"] = "128x64";
  std::vector<Measurements> const files = {a, file("b", {row("x", 1, 0.01, 10, facts)})};
  EXPECT_THAT(text(files, {}, compare(files, {}), {}), HasSubstr("(accumulator none, none): x\n"));
}

TEST(Compare, KeepsTerminalsSafeFromNames) {
  constexpr char const* name = "x\x1b[2J\n\u202e\u2069\u009b\u00e9\u2026";
  std::vector<Measurements> const files = {file("a", {row(name, 1, 0.01, 10)}),
                                           file("b", {row(name, 1, 0.01, 10)})};
  std::string const shown = text(files, {}, compare(files, {}), {});
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown, HasSubstr("x\\x1b[2J\\x0a\\xe2\\x80\\xae\\xe2\\x81\\xa9\\xc2\\x9b\u00e9\u2026"));
}

TEST(Compare, DoesNotTestWhatIsTooLittle) {
  std::vector<Measurements> const files = {file("a", {row("x", 1, 0.1, 3), row("y", 1, 0, 1)}),
                                           file("b", {row("x", 9, 0.1, 3), row("y", 2, 0, 10)})};
  Comparison const result = compare(files, {});
  EXPECT_EQ(result.lines[0].cells[1].verdict, Verdict::untested);
  EXPECT_EQ(result.lines[1].cells[1].verdict, Verdict::untested);
  EXPECT_THAT(text(files, {}, result, {}), HasSubstr("no case has enough samples"));
}

TEST(Compare, TestsQuartilesWhereOneSideKeptNoSamples) {
  Measurement old = row("x", 1, 0.01, 10);
  old.samples.clear();
  old.spread = 0.02;
  std::vector<Measurements> const files = {file("a", {old}), file("b", {row("x", 2, 0.01, 10)})};
  EXPECT_EQ(compare(files, {}).lines[0].cells[1].verdict, Verdict::slower);
}

TEST(Compare, ByAFactMatchesTheRestOfTheRow) {
  auto const of = [](char const* kernel, char const* n) {
    return std::map<std::string, std::string>{
        {"kernel", kernel}, {"seq_q", n}, {"seq_k", n}, {"tile", std::string("t") + kernel}};
  };
  std::vector<Measurements> const one = {
      file("a", {row("1", 4, 0.01, 10, of("naive", "512")), row("2", 1, 0.01, 10, of("fused", "512")),
                 row("3", 8, 0.01, 10, of("naive", "1024"))})};
  Comparison const result = compare(one, by("kernel"));
  EXPECT_THAT(result.columns, ElementsAre("naive", "fused"));
  ASSERT_EQ(result.lines.size(), 2u);
  EXPECT_EQ(result.lines[0].name, "n512");
  EXPECT_NEAR(*result.lines[0].cells[1].ratio, 1.045 / 4.045, 1e-12);
  EXPECT_THAT(refusal(one, by("colour")), HasSubstr("--by: no row has `colour`; allowed: kernel, seq_k"));
  EXPECT_THAT(refusal(one, by("kernel", "2")), HasSubstr("--by: all rows have kernel fused"));
  std::vector<Measurements> const twice = {
      file("a", {row("1", 1, 0, 4, of("naive", "8")), row("2", 1, 0, 4, of("naive", "8"))})};
  EXPECT_THAT(refusal(twice, by("kernel")), HasSubstr("another row of naive with n8"));
}

TEST(Compare, RefusesWhatCannotBeCompared) {
  std::vector<Measurements> const files = {file("a", {row("x", 1, 0, 4, {{"seq_k", "256"}})}),
                                           file("b", {row("x", 1, 0, 4, {{"seq_k", "512"}})})};
  EXPECT_THAT(refusal(files, {}), HasSubstr("b: x: seq_k is 512, and 256 in a"));
  std::vector<Measurements> const strangers = {file("a", {row("x", 1, 0, 4)}),
                                               file("b", {row("y", 1, 0, 4)})};
  EXPECT_THAT(refusal(strangers, {}),
              HasSubstr("a: has x, and b has y: no case is in both; allowed: results of the same cases"));
  EXPECT_THAT(refusal(strangers, by("", "z")), HasSubstr("--filter: `z` matches no row"));
}

TEST(Compare, SaysWhatFilesHaveThatHaveNothingInCommon) {
  std::vector<Measurements> const files = {
      file("a", {row("v", 1, 0, 4), row("w", 1, 0, 4), row("x", 1, 0, 4), row("y", 1, 0, 4)}),
      file("b", {row("z", 1, 0, 4)})};
  EXPECT_THAT(refusal(files, {}), HasSubstr("a: has v, w and 2 more, and b has z: no case is in both"));
  EXPECT_THAT(refusal(files, by("", "z")), HasSubstr("a: has no case, and b has z"));
  std::vector<Measurements> const lost = {file("a", {row("x", 1, 0, 4)}),
                                          file("b", {without_time("x", "oom")})};
  EXPECT_THAT(refusal(lost, {}), HasSubstr("a: none of its cases has a time here and in another column"));
}

TEST(Compare, ShowsNumbersOfAnySizeInFewDigits) {
  std::vector<Measurements> const files = {file("a", {row("x", 1e-9, 0, 4), row("y", 1e25, 0, 4)}),
                                           file("b", {row("x", 1e20, 0, 4), row("y", 1e-9, 0, 4)})};
  std::string const shown = text(files, {}, compare(files, {}), {});
  EXPECT_THAT(shown, HasSubstr("1.0e+29"));
  EXPECT_THAT(shown, HasSubstr("1.0e-34"));
  for (std::size_t begin = 0; begin < shown.size();) {
    std::size_t const end = shown.find('\n', begin);
    EXPECT_LT(end - begin, 120u) << shown.substr(begin, end - begin);
    begin = end + 1;
  }
  std::vector<Measurements> const slow = {file("a", {row("x", 1, 0, 4)}), file("b", {row("x", 25, 0, 4)})};
  EXPECT_THAT(text(slow, {}, compare(slow, {}), {}),
              HasSubstr("B/A 25.000, B takes 25.0 times the time of A"));
  std::vector<Measurements> const same = {file("a", {row("x", 1, 0, 4)}), file("b", {row("x", 1, 0, 4)})};
  EXPECT_THAT(text(same, {}, compare(same, {}), {}), HasSubstr("B/A 1.000, B takes the time of A"));
}

// Made from files that are gone: a comparison keeps what it needs.
TEST(Compare, OutlivesItsFiles) {
  Comparison const result =
      compare({file("a", {row("x", 1, 0.01, 10)}), file("b", {row("x", 2, 0.01, 10)})}, {});
  EXPECT_EQ(result.lines[0].cells[1].row->name, "x");
  EXPECT_THAT(result.lines[0].cells[1].row->samples, ::testing::SizeIs(10));
}

class Gate : public ::testing::Test {
 protected:
  static std::vector<std::string> against(std::vector<Measurement> rows) {
    std::vector<Measurements> const files = {file("a", {row("x", 1, 0.001, 10), row("y", 1, 0.001, 10)}),
                                             file("b", std::move(rows))};
    Rules const rules = no_slower_than(0.05);
    return broken(compare(files, rules), rules);
  }
};

TEST_F(Gate, HoldsWhereNothingIsSlowerThanAllowed) {
  EXPECT_THAT(against({row("x", 1.04, 0.001, 10), row("y", 0.5, 0.001, 10), row("new", 9, 0, 4)}), IsEmpty());
  EXPECT_THAT(against({row("x", 0.6, 0.11, 10), row("y", 1, 0.001, 10)}), IsEmpty())
      << "slower within its noise";
}

TEST_F(Gate, BreaksWhereACaseIsSlower) {
  EXPECT_THAT(against({row("x", 1.06, 0.001, 10), row("y", 1, 0.001, 10)}),
              ElementsAre(HasSubstr("x is 1.060")));
  EXPECT_THAT(against({row("x", 1.06, 0, 1), row("y", 1, 0.001, 10)}),
              ElementsAre(HasSubstr("too few samples")));
}

TEST_F(Gate, BreaksWhereACaseIsLostOrFailed) {
  EXPECT_THAT(against({row("x", 1, 0.001, 10)}), ElementsAre("y is not in b"));
  EXPECT_THAT(against({row("x", 1, 0.001, 10), without_time("y", "failed")}),
              ElementsAre("y is failed in b"));
}

}  // namespace
}  // namespace flashpad::compare
