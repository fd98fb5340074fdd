// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "html_report/items.hpp"

#include <string>
#include <vector>

namespace flashpad::html_report {

/// A number that is worth large type, and what it is.
struct Highlight {
  std::string number;
  std::string meaning;
};

/// What the rows of one machine say: who won, why, and how far from the roof it is.
struct Verdict {
  std::string machine;
  std::string headline;
  std::vector<std::string> reasons;  ///< a sentence each
  std::vector<Highlight> highlights;
};

/// One for each machine, in the order of the files. Only rows that count (Item::counts) compete, and only
/// where a problem has two contenders; `stats` computes something else and never does.
std::vector<Verdict> verdicts(std::vector<Item> const& items);

}  // namespace flashpad::html_report
