// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/page.hpp"

#include "entries.hpp"
#include "html_report/figure.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace flashpad::html_report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

std::size_t marks(Figure const& figure) {
  std::size_t found = 0;
  for (Panel const& panel : figure.panels) found += count(panel.body, "data-row=");
  return found;
}

std::vector<results::ResultFile> sweep() {
  results::Entry lost = entry("naive", 256, 1);
  lost.row.status = Status::oom;
  lost.row.reason = "needs 9 GiB";
  lost.row.median_s.reset();
  lost.row.tflops.reset();
  lost.row.intensity.reset();
  lost.row.bytes_model.reset();
  lost.row.verified.reset();
  lost.row.max_abs_err.reset();
  results::Entry wrong = entry("fused", 256, 0.5);
  wrong.row.status = Status::failed;
  wrong.row.verified = false;
  wrong.row.max_abs_err = 3;
  return {file_of({entry("naive", 64, 0.1), entry("fused", 64, 0.05), entry("naive", 128, 0.4),
                   entry("fused", 128, 0.1), lost, wrong})};
}

TEST(Figures, HaveAMarkForEachRow) {
  std::vector<results::ResultFile> const files = sweep();
  std::vector<Item> const items = items_of(files);
  EXPECT_EQ(marks(roofline(items)), 5u) << "the row without a rate has no place";
  std::vector<Figure> const against_length = lengths(items);
  ASSERT_EQ(against_length.size(), 4u);
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_EQ(marks(against_length[f]), 6u)
        << against_length[f].title << ": rows without a number stand at the edge";
    EXPECT_EQ(count(against_length[f].panels.at(0).body, "gone"), 1u);
    EXPECT_THAT(against_length[f].panels.at(0).body, HasSubstr(">oom<"));
  }
  EXPECT_TRUE(against_length[3].panels.empty()) << "no speedup is on file";
  EXPECT_EQ(marks(bars(items)), 2u);
  EXPECT_EQ(marks(errors(items)), 5u);
}

TEST(Figures, MarkWhatIsWrong) {
  std::vector<results::ResultFile> const files = sweep();
  Figure const figure = errors(items_of(files));
  EXPECT_EQ(count(figure.panels.at(0).body, "mark6"), 1u);
  EXPECT_THAT(figure.caption, HasSubstr("4 of 5 checked rows are within"));
}

TEST(Figures, SpeedupStandsBesideTheByteRatio) {
  std::vector<results::Entry> entries;
  for (std::int64_t const length : {64, 128}) {
    entries.push_back(entry("naive", length, 1));
    entries.push_back(entry("fused", length, 0.5));
    for (std::size_t e : {entries.size() - 2, entries.size() - 1}) {
      entries[e].row.speedup_vs_naive = e % 2 == 0 ? 1 : 2;
      entries[e].row.byte_ratio = e % 2 == 0 ? 1 : 17;
    }
  }
  std::vector<results::ResultFile> const files = {file_of(entries)};
  Figure const figure = lengths(items_of(files))[3];
  EXPECT_EQ(marks(figure), 4u) << "two of fused, each with its ratio; naive is the unit";
  EXPECT_EQ(count(figure.panels.at(0).body, "hollow"), 2u);
}

results::Trial trial(std::int64_t q, std::int64_t k, double seconds) {
  results::Trial trial;
  trial.q = q;
  trial.k = k;
  trial.status = "ok";
  trial.median_s = seconds;
  return trial;
}

TEST(Figures, CountedBytesStandBesideTheModels) {
  std::vector<results::ResultFile> files = sweep();
  files[0].entries[0].row.bytes_measured = 2e6;
  Figure const figure = lengths(items_of(files))[2];
  EXPECT_EQ(figure.id, "bytes");
  EXPECT_EQ(count(figure.panels.at(0).body, "hollow"), 1u);
  EXPECT_EQ(marks(figure), 7u);
  EXPECT_THAT(page(files), HasSubstr(">counted bytes<"));
  EXPECT_THAT(page(sweep()), Not(HasSubstr(">counted bytes<")));
}

TEST(Page, SimulatedBytesAreCalledSo) {
  std::vector<results::ResultFile> files = sweep();
  files[0].entries[0].row.counters.emplace().simulated_bytes = 3e6;
  EXPECT_THAT(page(files), HasSubstr(">simulated bytes<"));
  EXPECT_THAT(page(files), Not(HasSubstr(">counted bytes<")));
  EXPECT_EQ(count(lengths(items_of(files))[2].panels.at(0).body, "hollow"), 0u) << "no profiler counted";
  EXPECT_THAT(page(sweep()), Not(HasSubstr("simulated")));
}

TEST(Figures, TilesShowWhatWasPrunedAndWhatWon) {
  results::ResultFile file = file_of({});
  results::Search search;
  search.case_name = "one";
  for (std::int64_t const q : {64, 128}) {
    for (std::int64_t const k : {32, 64, 128})
      search.trials.push_back(trial(q, k, 1e-3 * static_cast<double>(q + k)));
  }
  search.trials.front().winner = true;
  search.trials.back().status = "pruned";
  search.trials.back().median_s.reset();
  search.trials.push_back(trial(64, 32, 9));
  file.searches.push_back(search);
  Figure const figure = tiles({file}, 10);
  ASSERT_EQ(figure.panels.size(), 1u);
  std::string const& body = figure.panels[0].body;
  EXPECT_EQ(marks(figure), 6u) << "one a cell";
  EXPECT_EQ(count(body, "cell pruned"), 1u);
  EXPECT_EQ(count(body, "class=\"winner\""), 1u);
  EXPECT_EQ(count(body, "cell heat0"), 1u);
  EXPECT_THAT(body, AllOf(HasSubstr("data-row=\"10\""), Not(HasSubstr("data-row=\"16\""))))
      << "the twin lost its cell";
  EXPECT_THAT(page({file}), HasSubstr("is best of the 6 timed, of 7 configurations"));
}

TEST(Page, NamesStayText) {
  std::string const hostile = "</script><img src=x onerror=alert(1)>\"'{{rows}}";
  std::vector<results::Entry> entries = {entry(hostile, 64, 1), entry("fused", 64, 2)};
  entries[0].machine = entries[1].machine = hostile;
  entries[0].row.reason = entries[0].row.dtype = entries[1].row.dtype = hostile;
  results::ResultFile file = file_of(entries, hostile + ".json");
  file.context["experiment"] = hostile;
  file.context[hostile] = hostile;
  std::string const html = page({file});
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(count(html, "<script"), 1u);
  EXPECT_EQ(count(html, "</script"), 1u);
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
  for (Picture const& picture : pictures({file})) EXPECT_EQ(picture.svg.find("<img"), std::string::npos);
}

TEST(Page, AsksTheNetworkForNothing) {
  std::string const html = page(sweep());
  EXPECT_EQ(html.find("http:"), std::string::npos);
  EXPECT_EQ(html.find("https:"), std::string::npos);
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(Page, OfNothingSaysSo) { EXPECT_THAT(page({file_of({})}), HasSubstr("Nothing was measured")); }

TEST(Page, SaysFirstWhatGaveNoResult) {
  std::string const html = page(sweep());
  EXPECT_THAT(html, AllOf(HasSubstr("Rows without a result"), HasSubstr("<b>oom</b> naive"),
                          HasSubstr("needs 9 GiB"), HasSubstr("<b>failed</b> fused")));
}

TEST(Pictures, StandAlone) {
  std::vector<Picture> const all = pictures(sweep());
  EXPECT_EQ(all.size(), 6u);
  for (Picture const& picture : all) {
    EXPECT_EQ(picture.svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0u);
    EXPECT_EQ(picture.svg.find("var("), std::string::npos) << "programs that draw SVG know no variables";
    EXPECT_THAT(picture.svg, HasSubstr("<path id=\"mark0\""));
  }
}

}  // namespace
}  // namespace flashpad::html_report
