// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/items.hpp"

#include "entries.hpp"

#include <gmock/gmock.h>

#include <set>

namespace flashpad::html_report {
namespace {

std::vector<std::string> labels(std::vector<Item> const& items) {
  std::vector<std::string> labels;
  for (Item const& item : items) labels.push_back(item.label);
  return labels;
}

using ::testing::ElementsAre;

TEST(Items, RowsOfOneProblemCompete) {
  std::vector<results::ResultFile> const files = {
      file_of({entry("naive", 64, 2), entry("fused", 64, 1), entry("fused", 128, 1)})};
  std::vector<Item> const items = items_of(files);
  EXPECT_EQ(items[0].problem, items[1].problem);
  EXPECT_NE(items[1].problem, items[2].problem);
  EXPECT_EQ(items[1].family, items[2].family) << "one line of a plot";
  EXPECT_EQ(items[2].row, 2u);
}

TEST(Items, OfTwoMachinesNoneCompete) {
  results::Entry other = entry("fused", 64, 1);
  other.machine = "Another";
  std::vector<results::ResultFile> const files = {file_of({entry("fused", 64, 1), other})};
  std::vector<Item> const items = items_of(files);
  EXPECT_NE(items[0].problem, items[1].problem);
  EXPECT_THAT(items[1].title, ::testing::HasSubstr("Another"));
}

TEST(Items, TwoRowsOfOneKernelAreToldApartByTheirOptions) {
  results::Entry first = entry("fused", 64, 1);
  results::Entry second = entry("fused", 64, 2);
  first.method = "fused t32x32";
  second.method = "fused t64x64";
  std::vector<results::ResultFile> const files = {file_of({entry("naive", 64, 3), first, second})};
  EXPECT_THAT(labels(items_of(files)), ElementsAre("naive", "fused t32x32", "fused t64x64"));
}

TEST(Items, RowsOfTwoFilesAreToldApartByTheFile) {
  std::vector<results::ResultFile> const files = {file_of({entry("fused", 64, 1)}, "before.json"),
                                                  file_of({entry("fused", 64, 2)}, "after.json")};
  EXPECT_THAT(labels(items_of(files)), ElementsAre("fused (before)", "fused (after)"));
}

TEST(Items, WhatNothingElseTellsApartHasTheNameOfItsCase) {
  results::Entry again = entry("fused", 64, 2);
  again.row.case_name = "again";
  std::vector<results::ResultFile> const files = {file_of({entry("fused", 64, 1), again})};
  EXPECT_THAT(labels(items_of(files)), ElementsAre("fused: fused64", "fused: again"));
}

TEST(Items, OfTwoFilesOfOneNameHaveTheirFolders) {
  std::vector<results::ResultFile> const files = {file_of({entry("fused", 64, 1)}, "before/rows.json"),
                                                  file_of({entry("fused", 64, 2)}, "after/rows.json")};
  EXPECT_THAT(labels(items_of(files)), ElementsAre("fused (before/rows.json)", "fused (after/rows.json)"));
}

TEST(Items, ABatchThatVariesAloneMakesAFamily) {
  results::Entry large = entry("fused", 64, 1);
  large.row.shape.batch = 8;
  std::vector<results::ResultFile> const files = {file_of({entry("fused", 64, 1), large})};
  std::vector<Item> const items = items_of(files);
  EXPECT_NE(items[0].family, items[1].family);
  EXPECT_THAT(items[1].title, ::testing::HasSubstr("b 8"));
}

// Of two files in one page, the first has two batches at one length and the second another batch at each
// length.
TEST(Items, ABatchThatVariesWithTheLengthMakesOneFamilyBesideACrowdedOne) {
  std::vector<results::Entry> crowded = {entry("fused", 64, 1), entry("fused", 64, 1)};
  crowded[1].row.shape.batch = 8;
  std::vector<results::Entry> peers = {entry("fa3", 64, 1), entry("fa3", 128, 1)};
  for (results::Entry& one : peers) one.row.dtype = "bf16";
  peers[1].row.shape.batch = 4;
  std::vector<results::ResultFile> const files = {file_of(crowded), file_of(peers, "peers.json")};
  std::vector<Item> const items = items_of(files);
  EXPECT_NE(items[0].family, items[1].family);
  EXPECT_EQ(items[2].family, items[3].family);
  EXPECT_THAT(items[2].title, ::testing::Not(::testing::HasSubstr("b ")));
}

TEST(Items, LabelsHaveStylesOfTheirOwn) {
  std::vector<results::Entry> entries;
  for (int i = 0; i < Style::colours * Style::shapes; ++i)
    entries.push_back(entry("peer" + std::to_string(i), 64, 1));
  entries[7].contender = "fused";
  entries[8].contender = "naive";
  std::vector<results::ResultFile> const files = {file_of(entries)};
  std::set<std::pair<int, int>> styles;
  for (Item const& item : items_of(files)) {
    styles.insert({item.style.colour, item.style.shape});
    EXPECT_LT(item.style.colour, Style::colours);
    EXPECT_LT(item.style.shape, Style::shapes);
    if (item.label == "fused") {
      EXPECT_EQ(item.style.colour, 0) << "in every report";
    }
    if (item.label == "naive") {
      EXPECT_EQ(item.style.colour, 1) << "in every report";
    }
  }
  EXPECT_EQ(styles.size(), entries.size());
}

}  // namespace
}  // namespace flashpad::html_report
