// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace flashpad::html_report {

struct Range {
  double low = 0;
  double high = 0;
  bool empty = true;

  /// Takes in a value; on a logarithmic axis only positive ones have a place, so others are left out.
  void take(double value);
};

struct Tick {
  double value = 0;
  std::string label;
};

/// A logarithmic axis from a value to a place on the page.
class LogScale {
 public:
  /// `low` and `high` are positive; a single value gets room on both sides.
  LogScale(Range const& range, double from, double to, double margin = 0.06);

  [[nodiscard]] double operator()(double value) const;
  [[nodiscard]] double low() const { return m_low; }
  [[nodiscard]] double high() const { return m_high; }
  [[nodiscard]] double from() const { return m_from; }
  [[nodiscard]] double to() const { return m_to; }

  /// Powers of ten, with 2 and 5 between them where there are fewer than three; at most eight in all.
  [[nodiscard]] std::vector<double> ticks() const;

 private:
  double m_low;
  double m_high;
  double m_from;
  double m_to;
};

/// 3 significant digits, without an exponent where that is short: "0.125", "512", "1.2e+06".
std::string short_number(double value);
/// "512", "4k", "1.5k", "1M": lengths are counted in 1024s where that comes out even.
std::string length_label(double length);

}  // namespace flashpad::html_report
