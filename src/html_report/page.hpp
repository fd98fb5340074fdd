// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "result_file/result_file.hpp"

#include <string>
#include <vector>

namespace flashpad::html_report {

/// One HTML file with all that these files say: no network, no other file, readable without scripts.
std::string page(std::vector<results::ResultFile> const& files);

/// A figure as a file of its own.
struct Picture {
  std::string name;  ///< without an ending
  std::string svg;
};

/// Every figure that has something to show, in light colours, as for a paper.
std::vector<Picture> pictures(std::vector<results::ResultFile> const& files);

}  // namespace flashpad::html_report
