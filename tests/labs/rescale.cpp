// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "labs/drill.hpp"

#include <memory>

namespace flashpad::labs {

namespace {

constexpr double lazy = 2e-2;  // the module's bound for fp16, which is no bound for float32

Case a_case(Distribution distribution) {
  Case one;
  one.shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 256, .seq_k = 512, .head_dim = 64, .value_dim = 64};
  one.distribution = distribution;
  return one;
}

}  // namespace

Drill rescale_drill() {
  auto const constant = make_input("all scores equal", a_case(Distribution::constant), {64, 32});
  auto const uniform = make_input("uniform magnitudes", a_case(Distribution::uniform), {64, 32});
  auto const unbalanced = make_input("unbalanced magnitudes", a_case(Distribution::unbalanced), {64, 32});
  auto const one_tile =
      make_input("unbalanced, one tile of keys", a_case(Distribution::unbalanced), {64, 512});

  Drill drill;
  drill.title = "the online rescale (512 keys in tiles of 32)";
  auto const broken = [&](char const* label, Rescale rescale, std::shared_ptr<Input const> const& input,
                          double tolerance, Outcome expected, char const* lesson) {
    Variant variant;
    variant.rescale = rescale;
    Trial trial;
    trial.label = label;
    trial.input = input;
    trial.variant = variant;
    trial.tolerance = tolerance;
    trial.expected = expected;
    trial.lesson = lesson;
    drill.trials.push_back(trial);
  };
  char const* const own = "each tile to its own maximum";
  broken(own, Rescale::own_maximum, constant, tolerance_fp32, Outcome::passed,
         "equal scores have one maximum: the sum is right by luck");
  broken(own, Rescale::own_maximum, uniform, lazy, Outcome::passed,
         "hidden: all tiles have about one maximum, and the bound is lazy");
  broken(own, Rescale::own_maximum, uniform, tolerance_fp32, Outcome::finite_but_wrong,
         "the same numbers under a bound that is the type's own");
  broken(own, Rescale::own_maximum, unbalanced, lazy, Outcome::finite_but_wrong,
         "not hidden: tiles of small scores weigh as much as those of large ones");
  broken(own, Rescale::own_maximum, one_tile, tolerance_fp32, Outcome::passed,
         "one tile has nothing to stitch: test tiles smaller than the sequence");
  broken("accumulator not rescaled", Rescale::sum_only, unbalanced, lazy, Outcome::finite_but_wrong,
         "the sum moved and the accumulator did not");
  for (auto const& input : {constant, uniform, unbalanced, one_tile}) {
    Trial trial;
    trial.label = "online rescale";
    trial.input = input;
    trial.variant = Variant{};
    trial.exercise = false;
    drill.trials.push_back(trial);
    trial.label = "the library's fused kernel";
    trial.variant.reset();
    drill.trials.push_back(trial);
  }
  return drill;
}

}  // namespace flashpad::labs
