// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "compare/measurements.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashpad::compare {

struct Rules {
  double alpha = 0.05;                   ///< a difference is one where chance makes it less often than this
  std::optional<double> fail_if_slower;  ///< a share: 0.05 for 5 %
  std::string filter;                    ///< only rows whose name contains it
  std::string by;                        ///< compare by a fact of the rows instead of by file; empty: by file
};

enum class Verdict : std::uint8_t {
  base,  ///< the first column's own
  faster,
  slower,
  same,      ///< chance makes such a difference often enough
  untested,  ///< there is a ratio, and too few samples to test it
  missing,   ///< one of both has no such row
  failed,    ///< there is a row without a time
};

std::string_view name(Verdict verdict) noexcept;

/// A row of one column beside the first column's.
struct Cell {
  std::optional<Measurement> row;  ///< empty where the column has none
  std::optional<double> ratio;     ///< time / the first column's: above 1 is slower
  std::optional<double> probability;
  Verdict verdict = Verdict::missing;
  bool too_slow = false;  ///< held against fail_if_slower
};

struct Line {
  std::string name;
  std::vector<Cell> cells;  ///< one a column
};

struct Comparison {
  std::vector<std::string> columns;  ///< file labels, or values of Rules::by
  std::vector<Line> lines;           ///< in the order of the first column, then of what only later ones have
  std::vector<std::optional<double>> geometric_means;  ///< of the ratios; one a column
  std::vector<std::size_t> compared;                   ///< ratios behind them
};

/// Puts rows of the same case side by side. By file, rows are the same where their names are; by a fact
/// (`kernel`, `backend`, ...), where problem and method are, that fact apart. Throws Error where two rows of
/// a column are the same, where the same name means different problems, where a fact is unknown, and where no
/// case has a time in the first column and in another.
Comparison compare(std::vector<Measurements> const& files, Rules const& rules);

/// Lines that keep a line from being held: slower than allowed, lost, or failed while the first column has a
/// time. Empty without Rules::fail_if_slower.
std::vector<std::string> broken(Comparison const& comparison, Rules const& rules);

}  // namespace flashpad::compare
