// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/verdict.hpp"

#include "entries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace flashpad::html_report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Verdict verdict(std::vector<results::Entry> entries) {
  std::vector<results::ResultFile> const files = {file_of(std::move(entries))};
  std::vector<Verdict> const all = verdicts(items_of(files));
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

std::string reasons(Verdict const& verdict) { return fmt::format("{}", fmt::join(verdict.reasons, " ")); }

TEST(Verdicts, CountWinsTiesAndLosses) {
  Verdict const found =
      verdict({entry("a", 64, 1.0), entry("b", 64, 2.0), entry("a", 128, 1.0), entry("b", 128, 1.005),
               entry("a", 256, 2.0), entry("b", 256, 1.0), entry("a", 512, 1.0), entry("b", 512, 3.0)});
  EXPECT_EQ(found.headline, "a wins 2 of 4 problems, ties 1 and loses 1");
  EXPECT_THAT(reasons(found), HasSubstr("It loses to b in 1 problem. Two tie whose medians"));
}

TEST(Verdicts, WithoutASpreadOnePercentIsATie) {
  std::vector<results::Entry> entries = {entry("a", 64, 1.0), entry("b", 64, 1.008), entry("a", 128, 1.0),
                                         entry("b", 128, 1.02)};
  for (results::Entry& one : entries) one.row.spread.reset();
  EXPECT_EQ(verdict(entries).headline, "a wins 1 of 2 problems and ties 1");
}

TEST(Verdicts, WrongFailedAndLonelyRowsDoNotCompete) {
  results::Entry wrong = entry("wrong", 64, 0.001);
  wrong.row.verified = false;
  wrong.row.status = Status::failed;
  results::Entry lied = entry("lied", 64, 0.001);
  lied.row.verified = false;
  Verdict const found = verdict({entry("a", 64, 1.0), entry("b", 64, 2.0), wrong, lied, entry("a", 128, 1)});
  EXPECT_EQ(found.headline, "a wins 1 of 1 problem");
  EXPECT_THAT(reasons(found), HasSubstr("5 rows: 1 failed, 4 ok."));
}

TEST(Verdicts, StatsComputesSomethingElse) {
  EXPECT_EQ(verdict({entry("stats", 64, 0.1), entry("fused", 64, 1.0)}).headline, "Nothing to compare");
}

TEST(Verdicts, SayWhyAgainstNaive) {
  results::Entry naive = entry("naive", 64, 8.0);
  naive.row.speedup_vs_naive = 1;
  naive.row.byte_ratio = 1;
  results::Entry fused = entry("fused", 64, 2.0);
  fused.row.speedup_vs_naive = 4;
  fused.row.byte_ratio = 17;
  Verdict const found = verdict({naive, fused});
  EXPECT_THAT(reasons(found), HasSubstr("moves 17 times fewer bytes"));
  EXPECT_THAT(reasons(found), HasSubstr("4 times less time"));
  EXPECT_EQ(found.highlights.at(0).number, "4x");
  EXPECT_THAT(reasons(found), Not(HasSubstr("more than the bytes")));
  EXPECT_THAT(reasons(found), Not(HasSubstr("Two tie")));
}

TEST(Verdicts, SayWhereBytesAreNotTheReason) {
  results::Entry naive = entry("naive", 64, 8.0);
  naive.row.speedup_vs_naive = 1;
  naive.row.byte_ratio = 1;
  results::Entry fused = entry("fused", 64, 0.25);
  fused.row.speedup_vs_naive = 32;
  fused.row.byte_ratio = 9;
  EXPECT_THAT(reasons(verdict({naive, fused})),
              HasSubstr("In 1 problem the clock sees more than the bytes explain"));
}

TEST(Verdicts, SayHowFarTheRoofIs) {
  results::Entry best = entry("fused", 64, 1.0);
  best.row.roof = "compute";
  best.row.roof_fraction = 0.4;
  EXPECT_THAT(reasons(verdict({best, entry("naive", 64, 2.0)})),
              HasSubstr("the compute roof binds, and it reaches 40 % of it"));
  EXPECT_THAT(reasons(verdict({best, entry("naive", 64, 2.0)})),
              HasSubstr("A kernel at the roof would take 2.5 times less time"));
}

TEST(Verdicts, ARoofBelowTheRowIsNoRoof) {
  results::Entry best = entry("hopper", 64, 1.0);
  best.row.roof_fraction = 9.5;
  std::string const text = reasons(verdict({best, entry("naive", 64, 2.0)}));
  EXPECT_THAT(text, HasSubstr("9.5 times the roof that was measured"));
  EXPECT_THAT(text, Not(HasSubstr("binds")));
}

TEST(Verdicts, ARoofThatIsNotKnownIsSaidSo) {
  EXPECT_THAT(reasons(verdict({entry("a", 64, 1.0), entry("b", 64, 2.0)})), HasSubstr("no measured roof"));
}

TEST(Verdicts, ARoofOfAnotherFileSaysThatItIs) {
  results::Entry other = entry("c", 4096, 1.0);
  other.roofs = {{{"fp32", 1e6}}, 1e9};
  other.row.shape.head_dim = 32;
  results::Entry best = entry("a", 64, 4.0);
  Verdict const found = verdict({best, entry("b", 64, 8.0), other});
  // 2 heads of 64 x 64 pairs, 256 operations each, in 4 s under a roof of 1e6 a second.
  EXPECT_THAT(reasons(found), HasSubstr("it reaches 52 % of it"));
  EXPECT_THAT(reasons(found), HasSubstr("a roof that another file measured"));
}

TEST(Verdicts, MatrixUnitsHaveOnePeakForBothNarrowTypes) {
  auto const with_type = [](char const* contender, double seconds, char const* type) {
    results::Entry one = entry(contender, 64, seconds);
    one.row.dtype = type;
    return one;
  };
  for (auto const& [name, expected] :
       {std::pair{results::matrix_units, "it reaches 52 % of it"}, std::pair{"fp32", "no measured roof"}}) {
    results::Entry other = with_type("c", 1.0, "fp16");
    other.roofs = {{{name, 1e6}}, 1e9};
    EXPECT_THAT(reasons(verdict({with_type("a", 4.0, "bf16"), with_type("b", 8.0, "bf16"), other})),
                HasSubstr(expected));
  }
}

TEST(Verdicts, NameTheKernelBehindAnInterface) {
  results::Entry ours = entry("flashpad-auto", 64, 1.0);
  ours.row.kernel = "hopper";
  EXPECT_EQ(verdict({ours, entry("fa3", 64, 2.0)}).headline, "flashpad-auto (hopper) wins 1 of 1 problem");
}

}  // namespace
}  // namespace flashpad::html_report
