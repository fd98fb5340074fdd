// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/csv.hpp"

#include <flashpad/error.hpp>

#include "support.hpp"

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
  EXPECT_EQ(csv_number("12,345", "x"), 12345);
  EXPECT_EQ(csv_number("1234567890123", "x"), 1234567890123.0);
  EXPECT_EQ(csv_number("5.", "x"), 5);
  for (char const* bad :
       {"", "n/a", "nan", "inf", "1 2", "12x", "-5", "+5", "-0", "0x10", "0x1p3", " 5", "1e999"})
    EXPECT_THROW(csv_number(bad, "x"), Error) << bad;
}

// Of a locale that has the comma where C has the point, and the point, or a space, between thousands.
TEST(Csv, RefusesNumbersOfAnotherLocale) {
  for (char const* bad : {"1.234,5", "1,5", "1,23", "1.234.567", "1 234", "1,2345", "1234,567", ",123",
                          "1,,234", "1,234,5", "0.5,123"})
    EXPECT_THROW(csv_number(bad, "x"), Error) << bad;
}

TEST(Csv, RefusesLongTextInAFewWords) {
  std::string const message =
      message_of<Error>([] { csv_number(std::string(1'000'000, '7') + "\n\x1b", "x"); });
  EXPECT_LT(message.size(), 300u);
}

}  // namespace
}  // namespace flashpad::profile
