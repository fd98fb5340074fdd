// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/verdict.hpp"

#include "html_report/figure.hpp"
#include "html_report/roofs.hpp"
#include "html_report/scale.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace flashpad::html_report {

namespace {

/// A problem that two or more contenders solved.
struct Contest {
  std::vector<Item> ranked;  ///< the fastest first

  [[nodiscard]] Item const& winner() const { return ranked.front(); }
  [[nodiscard]] Item const* find(std::string const& label) const {
    auto const found =
        std::find_if(ranked.begin(), ranked.end(), [&](Item const& item) { return item.label == label; });
    return found == ranked.end() ? nullptr : &*found;
  }
};

std::vector<Contest> contests_of(std::vector<Item> const& items) {
  std::vector<Contest> contests;
  for (auto& [key, members] : grouped(items, [](Item const& item) { return item.problem; })) {
    std::vector<Item> counted;
    for (Item const& item : members) {
      if (item.counts() && item.data().kernel != "stats") counted.push_back(item);
    }
    if (counted.size() < 2) continue;
    std::stable_sort(counted.begin(), counted.end(),
                     [](Item const& a, Item const& b) { return *a.data().median_s < *b.data().median_s; });
    contests.push_back({counted});
  }
  return contests;
}

/// Ratios of one kind: their geometric mean and ends.
struct Ratios {
  double logarithms = 0;
  int count = 0;
  Range range;

  void take(double ratio) {
    if (!(ratio > 0) || !std::isfinite(ratio)) return;
    logarithms += std::log(ratio);
    ++count;
    range.take(ratio);
  }
  [[nodiscard]] double mean() const { return std::exp(logarithms / count); }
  [[nodiscard]] std::string span() const {
    std::string const low = short_number(range.low);
    std::string const high = short_number(range.high);
    return low == high ? low : fmt::format("{} to {}", low, high);
  }
};

std::string problems(std::size_t count) { return fmt::format("{} problem{}", count, count == 1 ? "" : "s"); }

std::string describe(Item const& item) {
  Row const& row = item.data();
  return fmt::format("{}, {}, N {}, d {}", row.dtype, row.mask == "none" ? "no mask" : row.mask,
                     row.shape.seq_k, row.shape.head_dim);
}

// Its row of the most work that knows how far the roof is; else the one of the most work.
Item const* largest(std::vector<Contest> const& contests, std::string const& label) {
  Item const* found = nullptr;
  auto const rank = [](Item const& item) {
    return std::pair(item.data().roof_fraction.has_value() && item.data().intensity.has_value(),
                     item.data().flops.value_or(0));
  };
  for (Contest const& contest : contests) {
    Item const* const item = contest.find(label);
    if (item != nullptr && (found == nullptr || rank(*item) > rank(*found))) found = item;
  }
  return found;
}

enum class Result : std::uint8_t { win, tie, loss };

// Two that are closer than their calls scatter are tied.
Result result_of(Contest const& contest, Item const& champion) {
  Item const& other = contest.winner().label == champion.label ? contest.ranked[1] : contest.winner();
  double const ratio = *other.data().median_s / *champion.data().median_s;
  constexpr double unknown = 0.01;  // where neither row says how its calls scatter
  bool const known = champion.data().spread || other.data().spread;
  double const scatter =
      known ? std::max(champion.data().spread.value_or(0), other.data().spread.value_or(0)) : unknown;
  if (std::abs(ratio - 1) <= scatter) return Result::tie;
  return ratio > 1 ? Result::win : Result::loss;
}

// "flashpad-auto (hopper)": where all its rows ran one kernel and the name does not say which.
std::string full_name(std::vector<Contest> const& contests, std::string const& champion) {
  std::string kernel;
  for (Contest const& contest : contests) {
    std::string const& one = contest.find(champion)->data().kernel;
    if (one.empty() || (!kernel.empty() && kernel != one)) return champion;
    kernel = one;
  }
  return champion.find(kernel) == std::string::npos ? fmt::format("{} ({})", champion, kernel) : champion;
}

std::string headline(std::vector<Contest> const& contests, std::string const& champion) {
  std::array<std::size_t, 3> counts{};
  for (Contest const& contest : contests)
    ++counts[static_cast<std::size_t>(result_of(contest, *contest.find(champion)))];
  auto const [wins, ties, losses] = counts;
  std::string text =
      fmt::format("{} wins {} of {}", full_name(contests, champion), wins, problems(contests.size()));
  if (ties > 0) text += fmt::format("{} ties {}", losses > 0 ? "," : " and", ties);
  if (losses > 0) text += fmt::format(" and loses {}", losses);
  return text;
}

void add_speed(Verdict& verdict, std::vector<Contest> const& contests, std::string const& champion) {
  Ratios over_naive;
  Ratios bytes;
  Ratios over_others;
  std::size_t beyond_bytes = 0;
  for (Contest const& contest : contests) {
    Item const* const item = contest.find(champion);
    if (item == nullptr) continue;
    if (item->data().kernel != "naive") {
      std::optional<double> const speedup = item->data().speedup_vs_naive;
      std::optional<double> const byte_ratio = item->data().byte_ratio;
      over_naive.take(speedup.value_or(0));
      if (speedup) bytes.take(byte_ratio.value_or(0));
      if (speedup && byte_ratio && *speedup > *byte_ratio) ++beyond_bytes;
    }
    Item const& best_other = contest.winner().label == champion ? contest.ranked[1] : contest.winner();
    over_others.take(*best_other.data().median_s / *item->data().median_s);
  }
  if (over_naive.count > 0) {
    verdict.highlights.push_back({short_number(over_naive.mean()) + "x",
                                  fmt::format("faster than naive, geometric mean of {}",
                                              problems(static_cast<std::size_t>(over_naive.count)))});
    if (bytes.count > 0) {
      verdict.highlights.push_back({bytes.span() + "x", "fewer bytes than naive, by the model"});
      verdict.reasons.push_back(
          fmt::format("It moves {} times fewer bytes than naive by the model, since scores and probabilities "
                      "never leave the chip; "
                      "of that the clock sees {} times less time.",
                      bytes.span(), over_naive.span()));
      if (beyond_bytes > 0) {
        verdict.reasons.push_back(
            fmt::format("In {} the clock sees more than the bytes explain: there naive is slow for another "
                        "reason as well, or its calls scatter (spread, in the table).",
                        problems(beyond_bytes)));
      }
    }
  }
  if (over_others.count > 0 && (over_naive.count == 0 || contests.front().ranked.size() > 2)) {
    double const mean = over_others.mean();
    verdict.highlights.push_back({short_number(mean) + "x", "the best of the others, geometric mean"});
    verdict.reasons.push_back(
        fmt::format("Beside the best of the others in each problem it runs at {} times their speed "
                    "({} in single problems).",
                    short_number(mean), over_others.span()));
  }
}

/// Where a row stands under the roof: by its own file, or else by what the other files measured on its
/// machine.
struct Standing {
  double fraction = 0;
  std::string roof;
  bool other_file = false;
};

std::optional<Standing> standing_of(Item const& item, std::vector<Item> const& items) {
  Row const& row = item.data();
  if (row.roof_fraction) return Standing{*row.roof_fraction, row.roof.value_or("nearer"), false};
  results::Roofs const roofs = roofs_over(roof_group(item), items);
  if (roofs.peaks.empty() || roofs.bandwidth <= 0 || !row.intensity || !row.tflops) return {};
  double const by_bytes = *row.intensity * roofs.bandwidth;
  double const peak = roofs.peaks.front().flops;
  return Standing{*row.tflops * 1e12 / std::min(peak, by_bytes), peak <= by_bytes ? "compute" : "bandwidth",
                  true};
}

void add_roof(Verdict& verdict, Item const& item, std::vector<Item> const& items) {
  Row const& row = item.data();
  std::string const where = fmt::format("In its largest problem ({})", describe(item));
  std::string const rate = short_number(row.tflops.value_or(0));
  auto const standing = standing_of(item, items);
  if (!standing) {
    verdict.reasons.push_back(
        fmt::format("{} it reaches {} TFLOP/s; these files hold no measured roof for it, so how far "
                    "that is from what the machine can do is not known.",
                    where, rate));
    return;
  }
  constexpr double noise = 1.05;  // a peak is measured too
  double const fraction = standing->fraction;
  if (fraction > noise) {
    verdict.reasons.push_back(
        fmt::format("{} it reaches {} TFLOP/s, {} times the roof that was measured: that roof "
                    "belongs to another unit than the one that multiplied, and says nothing here.",
                    where, rate, short_number(fraction)));
    verdict.highlights.push_back({"no roof", "the measured one is of another unit: rows stand above it"});
    return;
  }
  verdict.highlights.push_back(
      {fmt::format("{:.0f} %", 100 * fraction), "of the measured roof, in its largest problem"});
  std::string text = where;
  if (row.intensity) text += fmt::format(" it does {} FLOP for each byte:", short_number(*row.intensity));
  text += fmt::format(" the {} roof binds, and it reaches {:.0f} % of it", standing->roof, 100 * fraction);
  if (row.tflops) text += fmt::format(", {} of {} TFLOP/s", rate, short_number(*row.tflops / fraction));
  if (standing->other_file) text += " (a roof that another file measured)";
  text += fraction < 0.98 ? fmt::format(". A kernel at the roof would take {} times less time.",
                                        short_number(1 / fraction))
                          : ".";
  verdict.reasons.push_back(text);
}

// What a tie is, where there is one.
std::string ties_of(std::vector<Contest> const& contests, std::string const& champion) {
  bool const any = std::any_of(contests.begin(), contests.end(), [&](Contest const& contest) {
    return result_of(contest, *contest.find(champion)) == Result::tie;
  });
  return any ? "Two tie whose medians are closer than the calls of one of them scatter (spread, in the "
               "table)."
             : "";
}

// Whom it loses to, and how often.
std::string losses_of(std::vector<Contest> const& contests, std::string const& champion) {
  std::map<std::string, std::size_t> losses;
  for (Contest const& contest : contests) {
    if (result_of(contest, *contest.find(champion)) == Result::loss) ++losses[contest.winner().label];
  }
  std::string text;
  for (auto const& [label, count] : losses)
    text += fmt::format("{}{} in {}", text.empty() ? "It loses to " : ", to ", label, problems(count));
  return text.empty() ? "" : text + '.';
}

void add_verified(Verdict& verdict, std::vector<Item> const& items) {
  auto const verified = std::count_if(items.begin(), items.end(),
                                      [](Item const& item) { return item.data().verified == true; });
  bool const any = std::any_of(items.begin(), items.end(),
                               [](Item const& item) { return item.data().verified.has_value(); });
  verdict.highlights.push_back(
      any ? Highlight{fmt::format("{}/{}", verified, items.size()),
                      "rows verified against a float64 reference"}
          : Highlight{fmt::format("{}", items.size()), "rows, whose files keep no errors"});
}

std::string count_of(std::vector<Item> const& items) {
  std::map<std::string, int> counts;
  for (Item const& item : items) ++counts[std::string(name(item.data().status))];
  std::string text = fmt::format("{} row{}: ", items.size(), items.size() == 1 ? "" : "s");
  bool first = true;
  for (auto const& [status, count] : counts) {
    text += fmt::format("{}{} {}", first ? "" : ", ", count, status);
    first = false;
  }
  return text + ".";
}

Verdict verdict_of(std::string const& machine, std::vector<Item> const& items) {
  Verdict verdict;
  verdict.machine = machine.empty() ? "unnamed machine" : machine;
  std::vector<Contest> const contests = contests_of(items);
  if (contests.empty()) {
    verdict.headline = items.empty() ? "Nothing was measured" : "Nothing to compare";
    verdict.reasons.push_back("No problem was solved by two contenders. " + count_of(items));
    return verdict;
  }
  std::map<std::string, int> firsts;
  for (Contest const& contest : contests) ++firsts[contest.winner().label];
  std::string const champion =
      std::max_element(firsts.begin(), firsts.end(), [](auto const& a, auto const& b) {
        return a.second < b.second;
      })->first;
  std::vector<Contest> entered;
  std::copy_if(contests.begin(), contests.end(), std::back_inserter(entered),
               [&](Contest const& contest) { return contest.find(champion) != nullptr; });
  verdict.headline = headline(entered, champion);
  add_speed(verdict, entered, champion);
  add_roof(verdict, *largest(entered, champion), items);
  for (std::string text : {losses_of(entered, champion), ties_of(entered, champion)}) {
    if (!text.empty()) verdict.reasons.push_back(std::move(text));
  }
  add_verified(verdict, items);
  verdict.reasons.push_back(count_of(items));
  return verdict;
}

}  // namespace

std::vector<Verdict> verdicts(std::vector<Item> const& items) {
  std::vector<Verdict> all;
  for (auto const& [machine, members] : grouped(items, [](Item const& item) { return item.entry->machine; }))
    all.push_back(verdict_of(machine, members));
  return all;
}

}  // namespace flashpad::html_report
