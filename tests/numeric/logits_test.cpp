// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numeric/trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace flashpad::test {
namespace {

// Scores that random inputs never have. All at tiles smaller than the sequence: the stitching is at stake.
class Logits : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, Logits, testing::ValuesIn(all_ways()), name_of);

Trial trial_of(Way const& way, Mask mask = Mask::none()) {
  Trial trial;
  trial.shape = {1, 1, 1, 70, 150, 32, 32};
  trial.mask = mask;
  trial.tile = small_tile(way);
  return trial;
}

/// Makes every score of key j equal to `of(j)` at scale 1: q = e_0, k_j = of(j) e_0.
template <class F>
std::function<void(Shape const&, measure::Inputs&)> scores(F of) {
  return [of](Shape const& s, measure::Inputs& inputs) {
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0);
    std::fill(inputs.k.begin(), inputs.k.end(), 0.0);
    for (std::int64_t r = 0; r < s.batch * s.heads * s.seq_q; ++r)
      inputs.q[static_cast<std::size_t>(r * s.head_dim)] = 1;
    for (std::int64_t r = 0; r < s.batch * s.kv_heads * s.seq_k; ++r) {
      inputs.k[static_cast<std::size_t>(r * s.head_dim)] = of(r % s.seq_k);
    }
  };
}

TEST_P(Logits, UnbalancedBlocks) {
  for (Mask const mask : {Mask::none(), Mask::causal()}) {
    Trial trial = trial_of(GetParam(), mask);
    trial.distribution = Distribution::unbalanced;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Logits, TheMaximumRisesAndFallsFromTileToTile) {
  // Rising: every tile rescales. Falling: none but the first. A missing rescale of either the sum or the
  // accumulator shows in one of them.
  for (double const slope : {0.2, -0.2, 1.5, -1.5}) {
    Trial trial = trial_of(GetParam());
    trial.scale = 1.0;
    trial.edit = scores([slope](std::int64_t j) { return slope * static_cast<double>(j); });
    expect_right(GetParam(), trial);
  }
}

TEST_P(Logits, MaximaThatMoveInTheLargestTiles) {
  // Many whole tiles and some that the mask cuts, of the size that the head dimension has. Of every five rows
  // one alone sees the scores, so that others of its tile raise nothing.
  for (std::int64_t const dim : {64, 128}) {
    for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(200, 5)}) {
      for (double const slope : {0.4, -0.4, 5.0, 0.0}) {
        Trial trial;
        trial.shape = {1, 2, 1, 150, 400, dim, dim};
        trial.mask = mask;
        trial.scale = 1.0;
        trial.edit = [slope](Shape const& s, measure::Inputs& inputs) {
          scores([slope](std::int64_t j) {
            return slope != 0 ? slope * static_cast<double>(j) : j == 217 ? 30000 : 0.5;
          })(s, inputs);
          for (std::int64_t r = 0; r < s.heads * s.seq_q; ++r) {
            if (r % 5 != 0) inputs.q[static_cast<std::size_t>(r * s.head_dim)] = 0;
          }
        };
        expect_right(GetParam(), trial);
      }
    }
  }
}

TEST_P(Logits, AllNegative) {
  Trial trial = trial_of(GetParam(), Mask::window(20, 3));
  trial.scale = 1.0;
  trial.edit = scores([](std::int64_t j) { return -1000.0 - static_cast<double>(j % 7); });
  expect_right(GetParam(), trial);
}

TEST_P(Logits, BelowAnySentinel) {
  // A mask of -1e9 would beat these. 16-bit fp16 reaches no further than -65504.
  DType const dtype = GetParam().dtype;
  for (double const logit : {-1e6, -1e30}) {
    if (dtype == DType::fp16) continue;
    Trial trial = trial_of(GetParam(), Mask::causal());
    trial.scale = 1.0;
    trial.edit = scores([logit](std::int64_t) { return logit; });
    expect_right(GetParam(), trial);
  }
}

TEST_P(Logits, FarOutInEveryPartOfASplitWalk) {
  // Half a unit in the last place of these is up to 2^75: parts are weighed by how many keys they saw, or not
  // at all.
  DType const dtype = GetParam().dtype;
  for (double const logit : {-6e4, 1e6, -3e9, 1e30}) {
    if (dtype == DType::fp16 && std::fabs(logit) > 65504) continue;
    Trial trial = trial_of(GetParam());
    trial.shape = {1, 4, 1, 1, 3000, 32, 32};
    trial.tile = {};
    trial.scale = 1.0;
    auto const equal = scores([logit](std::int64_t) { return logit; });
    trial.edit = [equal](Shape const& s, measure::Inputs& inputs) {
      equal(s, inputs);
      for (std::size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = static_cast<std::int64_t>(i) / s.value_dim < s.seq_k / 3 ? 1 : -1;
    };
    expect_right(GetParam(), trial);
  }
}

TEST_P(Logits, AllEqualIsTheMean) {
  for (Mask const mask : {Mask::none(), Mask::causal()}) {
    Trial trial = trial_of(GetParam(), mask);
    trial.distribution = Distribution::constant;
    expect_right(GetParam(), trial);
  }
}

TEST_P(Logits, EqualValuesOfManyKeysAreTheirMean) {
  // What a sum over all keys in one accumulator is off by grows with their number: 1e-4 here.
  Way const& way = GetParam();
  if (way.kernel != Kernel::fused) return;                    // naive's sums are the BLAS's
  if (way.backend == "cuda" || way.backend == "hip") return;  // not tried there
  Trial trial;
  trial.shape = {1, 1, 1, 3, 16384, 16, 16};
  trial.edit = [](Shape const&, measure::Inputs& inputs) {
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0);
    for (double& v : inputs.v) v = static_cast<double>(0.9F);
  };
  if (way.dtype != DType::fp32 && way.dtype != DType::fp64) return;  // 0.9 is no number of theirs
  expect_right(way, trial);
}

TEST_P(Logits, OneHugeLogit) {
  for (std::int64_t const where : {std::int64_t{0}, std::int64_t{75}, std::int64_t{149}}) {
    Trial trial = trial_of(GetParam());
    trial.scale = 1.0;
    trial.edit = scores([where](std::int64_t j) { return j == where ? 30000.0 : 0.5; });
    expect_right(GetParam(), trial);
  }
}

TEST_P(Logits, ADotProductThatSixteenBitsCannotHold) {
  // 256 * 32 * 32 = 262144: legal fp16 inputs, and more than fp16 can store.
  Trial trial = trial_of(GetParam());
  trial.shape.head_dim = 256;
  trial.tile = has_tiles(GetParam()) ? Tile{8, 8} : Tile{};  // all of it in a GPU's scratch memory
  trial.edit = [](Shape const& s, measure::Inputs& inputs) {
    std::fill(inputs.q.begin(), inputs.q.end(), 32.0);
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
      inputs.k[i] = i / static_cast<std::size_t>(s.head_dim) % 2 == 0 ? 32.0 : -32.0;
    }
  };
  expect_right(GetParam(), trial);
}

TEST_P(Logits, ScaleIsAValue) {
  // The last two are a denormal float, and 0 as a float.
  for (double const scale : {0.0, -0.3, 2.0, 1e-40, 1e-46}) {
    Trial trial = trial_of(GetParam(), Mask::causal());
    trial.scale = scale;
    expect_right(GetParam(), trial);
  }
}

/// Whether a way takes numbers of any size that float32 or float64 has.
bool takes_any_size(Way const& way) {
  // The second term of mma-tf32x3 may be below what tf32 holds: docs/mma.md, not tried.
  return (way.dtype == DType::fp32 || way.dtype == DType::fp64) && way.engine != "mma-tf32x3";
}

TEST_P(Logits, FactorsOfAnySizeThatGiveTheUsualScores) {
  Way const& way = GetParam();
  if (!takes_any_size(way)) return;
  for (int const power : {-122, 122}) {
    Trial trial = trial_of(way, Mask::causal());
    trial.edit = [power](Shape const&, measure::Inputs& inputs) {
      for (double& q : inputs.q) q = std::ldexp(q, power);
      for (double& k : inputs.k) k = std::ldexp(k, -power);
    };
    expect_right(way, trial);
  }
}

template <class T>
double largest_difference(std::vector<std::byte> const& o, double times,
                          std::vector<std::byte> const& other) {
  double largest = 0;
  for (std::size_t at = 0; at < o.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, &o[at], sizeof(T));
    std::memcpy(&b, &other[at], sizeof(T));
    largest = std::max(largest, std::fabs(times * static_cast<double>(a) - static_cast<double>(b)));
  }
  return largest;
}

TEST_P(Logits, OutputsOfSmallValuesAreAsExactAsOthers) {
  // The tolerance is that of values of 1; attention is linear in V.
  Way const& way = GetParam();
  if (!takes_any_size(way)) return;
  Trial trial = trial_of(way, Mask::causal());
  Result const usual = expect_right(way, trial);
  if (usual.refused || usual.outputs.o.empty()) return;
  trial.edit = [](Shape const&, measure::Inputs& inputs) {
    for (double& v : inputs.v) v = std::ldexp(v, -112);
  };
  Result const small = expect_right(way, trial);
  ASSERT_EQ(small.outputs.o.size(), usual.outputs.o.size());
  auto const difference = way.dtype == DType::fp32 ? largest_difference<float> : largest_difference<double>;
  EXPECT_LE(difference(small.outputs.o, std::ldexp(1.0, 112), usual.outputs.o),
            way.dtype == DType::fp32 ? 2e-5 : 1e-12);
}

TEST_P(Logits, InfiniteScores) {
  // A visible score of +infinity has no defined softmax: NaN. One of -infinity has no weight.
  Way const& way = GetParam();
  Trial trial = trial_of(way);
  trial.scale = 1.0;
  trial.edit = scores([](std::int64_t j) { return j == 3 ? HUGE_VAL : 0.0; });
  EXPECT_TRUE(std::isnan(run(way, trial, make_inputs(way, trial)).outputs.lse[0]));
  trial.edit = [](Shape const& s, measure::Inputs& inputs) {
    scores([](std::int64_t j) { return j < 40 ? -HUGE_VAL : 0.0; })(s, inputs);
    // 0 * infinity would be NaN in the other components.
    for (std::int64_t r = 0; r < s.seq_q; ++r) {
      for (std::int64_t c = 0; c < s.head_dim; ++c)
        inputs.q[static_cast<std::size_t>(r * s.head_dim + c)] = c == 0 ? 1 : 1e-3;
    }
  };
  if (way.engine == "mma-tf32x3") {  // an operand is a sum of two, and one of them is 0: 0 * infinity
    EXPECT_TRUE(std::isnan(run(way, trial, make_inputs(way, trial)).outputs.lse[0]));
    return;
  }
  expect_right(way, trial);
  // After tiles of finite keys, and before others.
  trial.tile = has_tiles(way) ? Tile{32, 32} : Tile{};
  trial.edit = [](Shape const& s, measure::Inputs& inputs) {
    scores([](std::int64_t j) { return j == 75 ? -HUGE_VAL : 0.25 * static_cast<double>(j % 7); })(s, inputs);
    for (std::int64_t r = 0; r < s.seq_q; ++r) {
      for (std::int64_t c = 0; c < s.head_dim; ++c)
        inputs.q[static_cast<std::size_t>(r * s.head_dim + c)] = c == 0 ? 1 : 1e-3;
    }
  };
  expect_right(way, trial);
}

}  // namespace
}  // namespace flashpad::test
