// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flashpad::html_report {

void Range::take(double value) {
  if (!(value > 0) || !std::isfinite(value)) return;
  low = empty ? value : std::min(low, value);
  high = empty ? value : std::max(high, value);
  empty = false;
}

LogScale::LogScale(Range const& range, double from, double to, double margin) : m_from(from), m_to(to) {
  double const low = range.empty ? 0.1 : range.low;
  double const high = range.empty ? 10 : range.high;
  double const span = std::log10(high / low);
  double const room = std::pow(10, span > 0.01 ? std::max(span * margin, 0.02) : 0.3);
  m_low = low / room;
  m_high = high * room;
}

double LogScale::operator()(double value) const {
  return m_from + (m_to - m_from) * std::log(value / m_low) / std::log(m_high / m_low);
}

std::vector<double> LogScale::ticks() const {
  constexpr std::size_t most = 8;
  int const first = static_cast<int>(std::floor(std::log10(m_low)));
  int const last = static_cast<int>(std::ceil(std::log10(m_high)));
  auto const with = [&](std::vector<double> const& digits, int step) {
    std::vector<double> ticks;
    for (int power = first - first % step; power <= last; power += step) {
      for (double const digit : digits) {
        double const tick = digit * std::pow(10, power);
        if (tick >= m_low && tick <= m_high) ticks.push_back(tick);
      }
    }
    return ticks;
  };
  for (int step = 1;; ++step) {
    std::vector<double> ticks = with({1}, step);
    if (ticks.size() > most) continue;
    if (step > 1 || ticks.size() >= 3) return ticks;
    std::vector<double> const finer = with({1, 2, 5}, 1);
    return finer.size() >= 2 ? finer : with({1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
  }
}

std::string short_number(double value) {
  double const size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e5)) return fmt::format("{:.2g}", value);
  return size >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string length_label(double length) {
  for (auto const& [unit, letter] : {std::pair{1048576.0, 'M'}, std::pair{1024.0, 'k'}}) {
    double const units = length / unit;
    if (units >= 1 && std::floor(units * 2) == units * 2) return fmt::format("{:g}{}", units, letter);
  }
  return fmt::format("{:.0f}", length);
}

}  // namespace flashpad::html_report
