// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "labs/drill.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace flashpad::labs {

namespace {

constexpr Tile tile{64, 16};

Case a_case(std::int64_t seq_q, std::int64_t seq_k, Mask const& mask) {
  Case one;
  one.shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = seq_q, .seq_k = seq_k, .head_dim = 32, .value_dim = 32};
  one.mask = mask;
  return one;
}

// Every score is -1e30: a legal input, whose rows are means of the values they see.
void far_below(Problem& p) {
  std::fill(p.q.begin(), p.q.end(), 0.0F);
  std::fill(p.k.begin(), p.k.end(), 0.0F);
  auto const dim = static_cast<std::size_t>(p.shape.head_dim);
  for (std::size_t i = 0; i < p.q.size(); i += dim) p.q[i] = -1e15F;
  for (std::size_t i = 0; i < p.k.size(); i += dim) p.k[i] = 1e15F;
  p.scale = 1;
}

}  // namespace

Drill masking_drill() {
  auto const causal = make_input("causal, N 200", a_case(200, 200, Mask::causal()), tile);
  auto const window = make_input("window [8, 0], N 200", a_case(200, 200, Mask::window(8, 0)), tile);
  auto const unseen = make_input("causal, Nq 96, Nk 64", a_case(96, 64, Mask::causal()), tile);
  auto const low = make_input("causal, every logit -1e30", a_case(200, 200, Mask::causal()), tile, far_below);

  auto const with = [](Masking masking) {
    Variant variant;
    variant.masking = masking;
    return variant;
  };
  Drill drill;
  drill.title = "masking: what becomes of a hidden score (tiles of 64 queries x 16 keys)";
  auto const broken = [&](char const* label, Masking masking, std::shared_ptr<Input const> const& input,
                          Outcome expected, char const* lesson) {
    Trial trial;
    trial.label = label;
    trial.input = input;
    trial.variant = with(masking);
    trial.expected = expected;
    trial.lesson = lesson;
    drill.trials.push_back(trial);
  };
  broken("raw -infinity", Masking::raw_infinity, causal, Outcome::passed,
         "every row sees key 0 in its first tile: this is how the bug ships");
  broken("raw -infinity", Masking::raw_infinity, window, Outcome::nan,
         "rows whose first tile is hidden: maximum -infinity, exp(-infinity + infinity) is NaN");
  broken("raw -infinity", Masking::raw_infinity, unseen, Outcome::nan, "rows that see no key at all");
  broken("-1e9", Masking::large_negative, window, Outcome::passed,
         "the module's way: exp(-1e9 - maximum) is 0 once a real score has come");
  broken("-1e9", Masking::large_negative, low, Outcome::finite_but_wrong,
         "hidden scores beat the real ones, which are legal: the future leaks into the past");
  broken("-1e9", Masking::large_negative, unseen, Outcome::finite_but_wrong,
         "a row that sees nothing becomes a mean of V: nothing tells it from a result");
  for (auto const& input : {causal, window, unseen, low}) {
    Trial trial;
    trial.label = "guarded -infinity";
    trial.input = input;
    trial.variant = with(Masking::guarded);
    trial.exercise = false;
    drill.trials.push_back(trial);
    trial.label = "the library's fused kernel";
    trial.variant.reset();
    drill.trials.push_back(trial);
  }
  return drill;
}

}  // namespace flashpad::labs
