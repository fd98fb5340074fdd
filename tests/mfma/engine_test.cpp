// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fused kernel with the mfma engine on emulated wavefronts, against the float64 reference: staging, lane
// maps, masks and statistics are the engine's own, the instructions those of AMD's documentation. No GPU is
// involved.

#include "emulated_wave.hpp"
#include "kernels/engines/mfma_tilings.hpp"
#include "kernels/fused/fused_kernel.hpp"
#include "reference/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace flashpad {
namespace {

using emulation::Access;
using emulation::Gfx908;
using emulation::Gfx90a;
using emulation::Gfx942;
using emulation::Member;
using emulation::Team;

struct Trial {
  Shape shape{1, 1, 1, 64, 64, 64, 64};
  Mask mask = {};
  double scale = 0.125;
  int tile_k = 0;  ///< 0: the tiling's
  int splits = 1;
  int offset = 0;        ///< elements that every row begins after a multiple of 16 bytes
  float magnitude = 1;   ///< of K
  float hidden_key = 0;  ///< what lies past the last key: never read into a result
};

struct Worst {
  double o = 0;
  double lse = 0;
};

/// Two-byte elements with guards around, rows `row + offset` apart so that they need not be aligned.
template <class T>
struct Tensor {
  Tensor(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t columns, int offset)
      : stride(columns + 8 + offset),
        rows_of_head(rows + 1),
        first(offset),
        n_heads(heads),
        data(static_cast<std::size_t>(batch * heads * rows_of_head * stride + offset + 64)) {}
  T& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) {
    return data[static_cast<std::size_t>(((b * n_heads + h) * rows_of_head + i) * stride + c + first)];
  }
  Operand operand() {
    Operand o;
    o.data = reinterpret_cast<decltype(o.data)>(data.data() + first);
    o.stride_n = stride * static_cast<std::int64_t>(sizeof(T));
    o.stride_h = rows_of_head * o.stride_n;
    o.stride_b = n_heads * o.stride_h;
    return o;
  }
  std::int64_t stride, rows_of_head, first, n_heads;
  std::vector<T> data;
};

std::vector<double> random_numbers(std::int64_t count, unsigned seed, float magnitude) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (double& number : numbers) number = magnitude * normal(generator);
  return numbers;
}

/// Rounds to T, in both.
template <class T>
void fill(Tensor<T>& tensor, std::vector<double>& numbers, std::int64_t batch, std::int64_t heads,
          std::int64_t rows, std::int64_t columns, float beyond) {
  for (T& element : tensor.data) element = from_float<T>(beyond);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t c = 0; c < columns; ++c) {
          tensor.at(b, h, i, c) = from_float<T>(static_cast<float>(numbers[next]));
          numbers[next] = to_float(tensor.at(b, h, i, c));
          ++next;
        }
}

template <class Arch, class T, class Tiling>
Worst run(Trial const& trial, std::vector<Access>* accesses = nullptr) {
  using Engine = engines::MfmaEngine<emulation::Wave<Arch>, T, Tiling, Member>;
  Shape const& s = trial.shape;
  auto q = random_numbers(s.batch * s.heads * s.seq_q * s.head_dim, 1, 1);
  auto k = random_numbers(s.batch * s.kv_heads * s.seq_k * s.head_dim, 2, trial.magnitude);
  auto v = random_numbers(s.batch * s.kv_heads * s.seq_k * s.value_dim, 3, 1);
  Tensor<T> tq(s.batch, s.heads, s.seq_q, s.head_dim, trial.offset);
  Tensor<T> tk(s.batch, s.kv_heads, s.seq_k, s.head_dim, trial.offset);
  Tensor<T> tv(s.batch, s.kv_heads, s.seq_k, s.value_dim, trial.offset);
  Tensor<T> to(s.batch, s.heads, s.seq_q, s.value_dim, trial.offset);
  fill(tq, q, s.batch, s.heads, s.seq_q, s.head_dim, trial.hidden_key);
  fill(tk, k, s.batch, s.kv_heads, s.seq_k, s.head_dim, trial.hidden_key);
  fill(tv, v, s.batch, s.kv_heads, s.seq_k, s.value_dim, trial.hidden_key);
  for (T& element : to.data) element = from_float<T>(NAN);

  FusedProblem p;
  p.shape = s;
  p.variant = BandVariant::make(s.seq_q, s.seq_k, trial.mask);
  p.scale = trial.scale;
  p.tile_q = Tiling::rows;
  p.tile_k = trial.tile_k == 0 ? Tiling::keys : trial.tile_k;
  p.schedule.batches = s.batch;
  p.schedule.heads = s.heads;
  p.schedule.query_tiles = (s.seq_q + Tiling::rows - 1) / Tiling::rows;
  p.schedule.splits = trial.splits;
  p.q = tq.operand();
  p.k = tk.operand();
  p.v = tv.operand();
  p.o = to.operand();
  std::int64_t const rows = s.batch * s.heads * s.seq_q;
  std::vector<float> lse(static_cast<std::size_t>(rows), NAN);
  p.lse.data = reinterpret_cast<decltype(p.lse.data)>(lse.data());
  p.lse.stride_n = sizeof(float);
  p.lse.stride_h = s.seq_q * p.lse.stride_n;
  p.lse.stride_b = s.heads * p.lse.stride_h;
  std::vector<float> part(static_cast<std::size_t>(trial.splits * rows * (s.value_dim + 2)), NAN);
  p.partials = {part.data(), part.data() + trial.splits * rows * s.value_dim,
                part.data() + trial.splits * rows * (s.value_dim + 1), Engine::log_unit};
  auto const config = Engine::make_config(p);

  for (int rank = 0; rank < static_cast<int>(p.schedule.league_size()); ++rank) {
    Team team(Tiling::waves, Engine::scratch_bytes);
    if (accesses != nullptr) team.log_accesses();
    team.run([&] { FusedLoop<Engine>::run(Member{&team, rank}, p, config); });
    if (accesses != nullptr)
      accesses->insert(accesses->end(), team.accesses().begin(), team.accesses().end());
  }

  Worst worst;
  std::vector<double> expected(static_cast<std::size_t>(s.value_dim));
  ReferenceProblem const reference{s, trial.mask, trial.scale, q.data(), k.data(), v.data()};
  auto const* max = static_cast<float const*>(p.partials.max);
  auto const* sum = static_cast<float const*>(p.partials.sum);
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t h = 0; h < s.heads; ++h)
      for (std::int64_t i = 0; i < s.seq_q; ++i) {
        double wanted_lse = 0;
        reference_row(reference, b, h, i, expected.data(), &wanted_lse, nullptr, nullptr);
        std::int64_t const row = (b * s.heads + h) * s.seq_q + i;
        // Parts are joined here as the definition has it.
        double top = -HUGE_VAL;
        for (int part_at = 0; part_at < trial.splits; ++part_at)
          if (trial.splits > 1) top = std::max(top, static_cast<double>(max[part_at * rows + row]));
        double total = 0;
        for (int part_at = 0; part_at < trial.splits && trial.splits > 1; ++part_at)
          if (top > -HUGE_VAL)
            total += std::exp2(max[part_at * rows + row] - top) * sum[part_at * rows + row];
        double got_lse = lse[static_cast<std::size_t>(row)];
        if (trial.splits > 1) got_lse = total == 0 ? -INFINITY : top * Engine::log_unit + std::log(total);
        double const lse_error = got_lse == wanted_lse
                                     ? 0
                                     : std::fabs(got_lse - wanted_lse) / std::max(1.0, std::fabs(wanted_lse));
        worst.lse = lse_error <= worst.lse ? worst.lse : lse_error;  // NaN stays
        for (std::int64_t c = 0; c < s.value_dim; ++c) {
          double got = 0;
          if (trial.splits == 1) {
            got = to_float(to.at(b, h, i, c));
          } else {
            for (int part_at = 0; part_at < trial.splits; ++part_at) {
              std::int64_t const at = part_at * rows + row;
              double const share = total == 0 ? 0 : std::exp2(max[at] - top) * sum[at] / total;
              got += share * part[static_cast<std::size_t>(at * s.value_dim + c)];
            }
          }
          double const error = std::fabs(got - expected[static_cast<std::size_t>(c)]);
          worst.o = error <= worst.o ? worst.o : error;
        }
      }
  for (std::int64_t b = 0; b < s.batch && s.seq_q > 0; ++b)  // the guard row after each head's last
    for (std::int64_t c = 0; c < s.value_dim; ++c)
      if (!std::isnan(to_float(to.at(b, s.heads - 1, s.seq_q, c)))) worst.o = INFINITY;
  return worst;
}

template <class T>
constexpr double allowed = std::is_same_v<T, half> ? 4e-3 : 3e-2;

template <class Arch, class T, int Dim>
void expect_right(Trial const& trial, std::string const& what) {
  Worst const worst = run<Arch, T, engines::MfmaTilings<Dim, Arch::gfx908>>(trial);
  EXPECT_LE(worst.o, allowed<T>) << what;
  EXPECT_LE(worst.lse, 1e-3) << what;
}

template <class Arch_, class T_>
struct On {
  using Arch = Arch_;
  using T = T_;
};
template <class Case>
class MfmaEngineTest : public ::testing::Test {};
using Cases = ::testing::Types<On<Gfx908, half>, On<Gfx908, bfloat16>, On<Gfx90a, half>, On<Gfx90a, bfloat16>,
                               On<Gfx942, half>, On<Gfx942, bfloat16>>;
TYPED_TEST_SUITE(MfmaEngineTest, Cases, );

TYPED_TEST(MfmaEngineTest, ComputesAttentionInEveryBucket) {
  using Arch = typename TypeParam::Arch;
  using T = typename TypeParam::T;
  expect_right<Arch, T, 32>({.shape = {1, 2, 1, 70, 100, 32, 32}}, "32");
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 40, 130, 64, 64}}, "64");
  expect_right<Arch, T, 96>({.shape = {1, 1, 1, 33, 65, 96, 96}}, "96");
  expect_right<Arch, T, 128>({.shape = {2, 1, 1, 33, 96, 128, 128}}, "128");
  expect_right<Arch, T, 192>({.shape = {1, 1, 1, 20, 40, 192, 192}}, "192");
  expect_right<Arch, T, 256>({.shape = {1, 1, 1, 20, 40, 256, 256}}, "256");
}

TYPED_TEST(MfmaEngineTest, TakesHeadDimensionsBetweenBuckets) {
  using Arch = typename TypeParam::Arch;
  using T = typename TypeParam::T;
  expect_right<Arch, T, 32>({.shape = {1, 1, 1, 17, 64, 16, 24}}, "16, 24");
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 31, 64, 40, 64}, .hidden_key = NAN}, "40, 64");
  expect_right<Arch, T, 128>({.shape = {1, 1, 1, 15, 33, 104, 80}, .hidden_key = NAN}, "104, 80");
}

TYPED_TEST(MfmaEngineTest, MasksAndSkips) {
  using Arch = typename TypeParam::Arch;
  using T = typename TypeParam::T;
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 150, 150, 64, 64}, .mask = Mask::causal()}, "causal");
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 150, 90, 64, 64}, .mask = Mask::causal()},
                            "rows that see nothing");
  expect_right<Arch, T, 128>({.shape = {1, 1, 1, 60, 100, 128, 128}, .mask = Mask::window(20, 5)}, "window");
}

TYPED_TEST(MfmaEngineTest, TakesWhatIsNotAligned) {
  using Arch = typename TypeParam::Arch;
  using T = typename TypeParam::T;
  for (int const offset : {1, 4}) {
    expect_right<Arch, T, 64>({.shape = {1, 1, 1, 33, 65, 64, 64}, .offset = offset, .hidden_key = NAN},
                              "offset");
  }
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 33, 100, 64, 64}, .tile_k = 48},
                            "a tile smaller than compiled");
}

TYPED_TEST(MfmaEngineTest, SplitsAndScales) {
  using Arch = typename TypeParam::Arch;
  using T = typename TypeParam::T;
  expect_right<Arch, T, 64>({.shape = {1, 2, 1, 33, 300, 64, 64}, .splits = 3}, "splits");
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 33, 100, 64, 64}, .scale = -0.2}, "negative scale");
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 33, 100, 64, 64}, .scale = 0}, "scale 0");
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 33, 100, 64, 64}, .scale = 1e-46},
                            "scale that is 0 as a float");
  expect_right<Arch, T, 64>({.shape = {1, 1, 1, 33, 200, 64, 64}, .magnitude = 20}, "peaked rows, rescaled");
}

TEST(MfmaEmulation, FailsOnAWrongMap) {
  Worst const worst =
      run<emulation::WrongRows, half, engines::MfmaTilings<64, false>>({.shape = {1, 1, 1, 32, 64, 64, 64}});
  EXPECT_GT(worst.o, 0.1) << "an engine that is right here maps lanes wrongly";
}

// Cycles that a group of lanes takes, served together: the most different words that one of 32 banks has to
// give.
int cycles(std::vector<Access const*> const& group) {
  std::map<unsigned, std::vector<unsigned>> words;
  for (Access const* access : group) {
    for (unsigned word = access->address / 4;
         word < (access->address + static_cast<unsigned>(access->bytes)) / 4; ++word) {
      auto& of_bank = words[word % 32];
      if (std::find(of_bank.begin(), of_bank.end(), word) == of_bank.end()) of_bank.push_back(word);
    }
  }
  std::size_t most = 0;
  for (auto const& [bank, list] : words) most = std::max(most, list.size());
  return static_cast<int>(most);
}

struct Conflicts {
  int accesses = 0;
  int extra_cycles = 0;
};

/// 128 bytes are served at a time: 8 neighbouring lanes of 16 bytes, 16 of 8.
template <class T, int Dim>
Conflicts conflicts_of(Trial const& trial) {
  std::vector<Access> accesses;
  static_cast<void>(run<Gfx90a, T, engines::MfmaTilings<Dim, false>>(trial, &accesses));
  std::map<std::tuple<bool, int, int, int>, std::vector<Access const*>> instructions;
  for (Access const& access : accesses)
    instructions[{access.store, access.wave, access.epoch, access.ordinal}].push_back(&access);
  Conflicts found;
  for (auto& [key, lanes] : instructions) {
    std::sort(lanes.begin(), lanes.end(), [](Access const* a, Access const* b) { return a->lane < b->lane; });
    int const together = 128 / lanes.front()->bytes;
    for (std::size_t first = 0; first < lanes.size();) {
      std::vector<Access const*> group;
      int const of = lanes[first]->lane / together;
      for (; first < lanes.size() && lanes[first]->lane / together == of; ++first)
        group.push_back(lanes[first]);
      found.extra_cycles += cycles(group) - 1;
    }
    ++found.accesses;
  }
  return found;
}

TEST(MfmaLayout, HasNoBankConflicts) {
  auto const expect_none = [](Conflicts const& conflicts, char const* what) {
    EXPECT_GT(conflicts.accesses, 10) << what;
    EXPECT_EQ(conflicts.extra_cycles, 0) << what;
  };
  expect_none(conflicts_of<half, 32>({.shape = {1, 1, 1, 128, 128, 32, 32}}), "32");
  expect_none(conflicts_of<half, 64>({.shape = {1, 1, 1, 128, 128, 64, 64}}), "64");
  expect_none(conflicts_of<half, 96>({.shape = {1, 1, 1, 128, 64, 96, 96}}), "96");
  expect_none(conflicts_of<half, 128>({.shape = {1, 1, 1, 128, 64, 128, 128}}), "128");
  expect_none(conflicts_of<half, 192>({.shape = {1, 1, 1, 128, 64, 192, 192}}), "192");
  expect_none(conflicts_of<half, 256>({.shape = {1, 1, 1, 128, 64, 256, 256}}), "256");
}

TEST(MfmaLayout, CountsConflictsWhereThereAreSome) {
  std::vector<Access> accesses(8);
  std::vector<Access const*> group;
  for (unsigned i = 0; i < 8; ++i) {
    accesses[i].address = i * 256;  // rows without padding
    accesses[i].bytes = 16;
    group.push_back(&accesses[i]);
  }
  EXPECT_EQ(cycles(group), 8);
}

}  // namespace
}  // namespace flashpad
