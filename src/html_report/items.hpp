// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/svg.hpp"
#include "result_file/result_file.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace flashpad::html_report {

/// A row of one of the files, with its place in the report.
struct Item {
  results::Entry const* entry = nullptr;
  std::size_t file = 0;
  std::size_t row = 0;  ///< number in the report, over all files
  std::string label;  ///< the contender; of two that one file has for one problem, with what tells them apart
  Style style;        ///< the same for the same label
  std::string problem;  ///< items with the same key computed the same on one machine: they compete
  std::string family;  ///< the same but for the length, the batch and the heads: they make one line of a plot
  std::string title;   ///< of the family: what sets it apart from the others of the report

  [[nodiscard]] Row const& data() const { return entry->row; }
  /// It ran and was not found wrong: its time counts.
  [[nodiscard]] bool counts() const;
  [[nodiscard]] double length() const { return static_cast<double>(entry->row.shape.seq_k); }
};

/// In the order of the files and their rows. The entries must outlive the items.
std::vector<Item> items_of(std::vector<results::ResultFile> const& files);

/// One item of each label, in the order of the styles' first use.
std::vector<Item> contenders_of(std::vector<Item> const& items);

}  // namespace flashpad::html_report
