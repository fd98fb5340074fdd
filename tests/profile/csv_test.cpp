// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/csv.hpp"

#include <flashpad/error.hpp>

#include <gmock/gmock.h>

namespace flashpad::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Csv, SplitsLinesAndFields) {
  EXPECT_THAT(parse_csv("a,b\r\n1,2\n\n3,"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2"), ElementsAre("3", "")));
  EXPECT_THAT(parse_csv(""), IsEmpty());
}

TEST(Csv, KeepsWhatIsQuoted) {
  EXPECT_THAT(parse_csv("\"f(int, float)\",\"a \"\"b\"\"\",\"1\n2\"\n"),
              ElementsAre(ElementsAre("f(int, float)", "a \"b\"", "1\n2")));
}

TEST(Csv, FindsByColumn) {
  CsvTable const table("ID,Value\n7,1\n8\n");
  ASSERT_EQ(table.lines(), 2u);
  EXPECT_EQ(table.at(0, "Value"), "1");
  EXPECT_EQ(table.at(1, "Value"), "");
  EXPECT_EQ(table.at(0, "Nothing"), "");
  EXPECT_TRUE(table.has("ID"));
  EXPECT_FALSE(table.has("id"));
}

TEST(Csv, ReadsNumbers) {
  EXPECT_EQ(csv_number("1,234,567.5", "x"), 1234567.5);
  EXPECT_EQ(csv_number("4.34259040e-02", "x"), 4.34259040e-02);
  for (char const* bad : {"", "n/a", "nan", "inf", "1 2", "12x"})
    EXPECT_THROW(csv_number(bad, "x"), Error) << bad;
}

}  // namespace
}  // namespace flashpad::profile
