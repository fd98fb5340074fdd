// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "labs/drill.hpp"
#include "measure/statistics.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <memory>

namespace flashpad::labs {

namespace {

Case a_case(std::int64_t heads, std::int64_t n, Mask const& mask) {
  Case one;
  one.shape = {
      .batch = 1, .heads = heads, .kv_heads = heads, .seq_q = n, .seq_k = n, .head_dim = 64, .value_dim = 64};
  one.mask = mask;
  return one;
}

/// With T = N / b tiles on each side, causal query tile i visits i + 1 of them.
double visited_share(std::int64_t n, std::int64_t b) {
  std::int64_t const tiles = (n + b - 1) / b;
  return static_cast<double>(tiles + 1) / static_cast<double>(2 * tiles);
}

Variant only_masks() {
  Variant variant;
  variant.skips = false;
  return variant;
}

Variant only_skips() {
  Variant variant;
  variant.masking = Masking::none;
  return variant;
}

double median_seconds(Problem const& problem, Variant const& variant) {
  constexpr int repetitions = 11;
  static_cast<void>(run(problem, variant));  // warm-up
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) seconds.push_back(run(problem, variant).seconds);
  return measure::summarise(seconds).median;
}

std::string timings() {
  auto const input = make_input("", a_case(1, 2048, Mask::causal()), {256, 64});
  struct Timed {
    char const* label;
    Variant variant;
  };
  Variant tests_every_tile;
  tests_every_tile.two_stages = false;
  Variant in_row_order;
  in_row_order.heaviest_first = false;
  Timed const all[] = {{"mask only: correct and pointless", only_masks()},
                       {"skip and mask, two stages, heaviest first", Variant{}},
                       {"... the mask tested on every tile", tests_every_tile},
                       {"... query tiles in the order of rows", in_row_order}};
  double first = 0;
  std::string text =
      "  times of this loop at N 2048, one head, d 64, tiles of 256 x 64 (few, so that their order shows);\n"
      "  medians of 11, measured now\n";
  for (Timed const& one : all) {
    double const seconds = median_seconds(input->problem, one.variant);
    if (first == 0) first = seconds;
    text += fmt::format("    {:<44} {:>9}  {:.2f}x\n", one.label, report::format_seconds(seconds),
                        first / seconds);
  }
  return text;
}

}  // namespace

Drill causal_drill() {
  auto const ragged = make_input("N 1000", a_case(1, 1000, Mask::causal()), {64, 64});
  auto const even = make_input("N 1024", a_case(1, 1024, Mask::causal()), {64, 64});
  auto const tail = make_input("no mask, N 1000", a_case(1, 1000, Mask::none()), {64, 64});
  auto const whole = make_input("no mask, N 1024", a_case(1, 1024, Mask::none()), {64, 64});

  Drill drill;
  drill.title =
      "causal, both halves: skipping is the speed, masking the diagonal tile is the correctness (tiles of 64 "
      "x 64;\n"
      "visits: share of all tiles; (T + 1) / (2 T) = 0.5312 for T = 16)";
  auto const add = [&](char const* label, std::shared_ptr<Input const> const& input, Variant const& variant,
                       Outcome expected, std::optional<double> visited, char const* lesson,
                       bool exercise = true) {
    Trial trial;
    trial.label = label;
    trial.input = input;
    trial.variant = variant;
    trial.expected = expected;
    trial.visited = visited;
    trial.lesson = lesson;
    trial.exercise = exercise;
    drill.trials.push_back(trial);
  };
  add("mask only", even, only_masks(), Outcome::passed, 1.0,
      "correct and no faster: the loop's end was not moved");
  add("skip only", even, only_skips(), Outcome::finite_but_wrong, visited_share(1024, 64),
      "fast and wrong: each diagonal tile shows the future");
  Variant zeros;
  zeros.padding_is_zeros = true;
  add("padding counted as keys", whole, zeros, Outcome::passed, {}, "no tile is partial: nothing shows");
  add("padding counted as keys", tail, zeros, Outcome::finite_but_wrong, {},
      "keys of zeros have a score of 0, not none: test a length that no tile divides");
  for (auto const& input : {even, ragged}) {
    add("skip and mask", input, Variant{}, Outcome::passed, visited_share(input->problem.shape.seq_q, 64), "",
        false);
    Trial library = drill.trials.back();
    library.label = "the library's fused kernel";
    library.variant.reset();
    library.visited.reset();
    drill.trials.push_back(library);
  }
  Variant tests_every_tile;
  tests_every_tile.two_stages = false;
  add("the mask on every tile", ragged, tests_every_tile, Outcome::passed, visited_share(1000, 64),
      "the same result; one tile of a row of tiles needs it", false);
  Variant in_row_order;
  in_row_order.heaviest_first = false;
  add("query tiles in row order", ragged, in_row_order, Outcome::passed, visited_share(1000, 64),
      "the same result; the longest tile starts last", false);
  add("bounds, no mask", tail, Variant{}, Outcome::passed, 1.0, "", false);
  drill.timings = timings;
  return drill;
}

}  // namespace flashpad::labs
