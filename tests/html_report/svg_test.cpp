// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/svg.hpp"

#include <gmock/gmock.h>

namespace flashpad::html_report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Escape, LeavesNothingThatMarkupReads) {
  EXPECT_EQ(escape("</script><img src=x onerror=\"a('b')\">&amp;"),
            "&lt;/script&gt;&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;amp;");
}

TEST(Escape, MakesSpacesOfLineEndsAndShowsWhatCannotBeSeen) {
  EXPECT_EQ(escape("a\nb\tc"), "a b c");
  EXPECT_EQ(escape(std::string("a\0b\x1b[31m\x7f", 9)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD[31m\xEF\xBF\xBD");
}

TEST(Escape, LetsNoTextTurnItsNeighbours) {
  EXPECT_EQ(escape("a\xE2\x80\xAE"
                   "b"),
            "a\xEF\xBF\xBD"
            "b");  // right-to-left override
  EXPECT_EQ(escape("a\xE2\x81\xA6"
                   "b"),
            "a\xEF\xBF\xBD"
            "b");  // isolate
  EXPECT_EQ(escape("\xD7\xA9\xD7\x9C"), "\xD7\xA9\xD7\x9C") << "letters of Hebrew stay";
  EXPECT_EQ(escape("\xE2\x80"), "\xE2\x80") << "half a character is no reason to read past the end";
}

TEST(Shorten, KeepsBothEnds) {
  EXPECT_EQ(shorten("short", 5), "short");
  EXPECT_EQ(shorten("abcdefghij", 5), "ab\xE2\x80\xA6ij");
  EXPECT_EQ(shorten("abcdefghij", 4), "a\xE2\x80\xA6ij");
}

TEST(Shorten, CountsCharactersAndCutsNone) {
  EXPECT_EQ(shorten("\xC3\xA4\xC3\xB6\xC3\xBC", 3), "\xC3\xA4\xC3\xB6\xC3\xBC");
  EXPECT_EQ(shorten("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F\xC3\xA9", 3), "\xC3\xA4\xE2\x80\xA6\xC3\xA9");
}

TEST(Svg, PutsTextInAsText) {
  Svg svg;
  svg.open_series("\"><script>", {});
  svg.mark(1, 2, {3, 1}, "bad", 7, "<b>");
  svg.text(0, 0, "<tspan>", "label");
  svg.close_series();
  EXPECT_THAT(svg.body(), HasSubstr(R"(data-contender="&quot;&gt;&lt;script&gt;")"));
  EXPECT_THAT(
      svg.body(),
      HasSubstr(
          R"(<use href="#mark1" x="1.0" y="2.0" class="mark c3 bad" data-row="7"><title>&lt;b&gt;</title></use>)"));
  EXPECT_THAT(svg.body(), Not(HasSubstr("<tspan>")));
}

}  // namespace
}  // namespace flashpad::html_report
