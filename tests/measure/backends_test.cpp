// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/blas_threads.hpp"
#include "measure/backend.hpp"
#include "measure/elements.hpp"
#include "measure/machine.hpp"
#include "measure/peak_kernels.hpp"
#include "measure/session.hpp"

#include <flashpad/error.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace flashpad::measure {
namespace {

class EachBackend : public ::testing::TestWithParam<std::string> {
 protected:
  ~EachBackend() override { release_backends(); }
};

Case one_case(std::string const& place, DType dtype, Kernel kernel) {
  Case one;
  one.name = one.problem_key = std::string(name(dtype));
  one.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .seq_q = 70, .seq_k = 90, .head_dim = 32, .value_dim = 48};
  one.mask = Mask::causal();
  one.dtype = dtype;
  one.layout = Layout::bnhd;
  one.distribution = Distribution::unbalanced;
  one.kernel = kernel;
  one.backend = place;
  return one;
}

TEST_P(EachBackend, MeasuresEveryKernelAndType) {
  Session session(Settings{});
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    for (Kernel const kernel : {Kernel::naive, Kernel::fused, Kernel::stats, Kernel::automatic}) {
      Row const row = session.measure(one_case(GetParam(), dtype, kernel));
      EXPECT_EQ(row.status, Status::ok) << name(dtype) << " " << name(kernel) << ": " << row.reason;
      EXPECT_EQ(row.verified, true);
      EXPECT_EQ(row.backend, GetParam());
      EXPECT_GE(row.launches.value_or(0), 1);
      EXPECT_GT(row.median_s.value_or(0), 0);
      EXPECT_EQ(row.tile.has_value(), kernel != Kernel::naive);
      EXPECT_NE(row.kernel, "auto") << "auto is reported as what it chose";
    }
  }
}

RunSpec spec_of(Case const& one, std::int64_t copies) {
  RunSpec spec;
  spec.shape = one.shape;
  spec.dtype = one.dtype;
  spec.layout = one.layout;
  spec.options.kernel = one.kernel;
  spec.options.mask = one.mask;
  spec.copies = copies;
  return spec;
}

TEST_P(EachBackend, StartsFromOutputsThatAreAllNan) {
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    Case const one = one_case(GetParam(), dtype, Kernel::fused);
    auto const runner = backend(GetParam()).prepare(spec_of(one, 1));
    runner->fill_outputs_with_nan();
    Outputs const outputs = runner->fetch();
    std::vector<double> const o = unpack(outputs.o, extents_of_o(one.shape), dtype, one.layout);
    EXPECT_TRUE(std::all_of(o.begin(), o.end(), [](double x) { return std::isnan(x); })) << name(dtype);
    EXPECT_TRUE(std::all_of(outputs.lse.begin(), outputs.lse.end(), [](double x) { return std::isnan(x); }));
  }
}

TEST_P(EachBackend, EveryCopyHoldsTheInputs) {
  Case const one = one_case(GetParam(), DType::bf16, Kernel::fused);
  Inputs const inputs = make_inputs(one);
  auto const runner = backend(GetParam()).prepare(spec_of(one, 3));
  runner->load(pack(inputs.q, extents_of_q(one.shape), one.dtype, one.layout),
               pack(inputs.k, extents_of_k(one.shape), one.dtype, one.layout),
               pack(inputs.v, extents_of_v(one.shape), one.dtype, one.layout));
  runner->call(0, true);
  Outputs const first = runner->fetch();
  for (std::int64_t const copy : {1, 2}) {
    runner->fill_outputs_with_nan();
    runner->call(copy, true);
    EXPECT_EQ(runner->fetch().o, first.o) << copy;
  }
}

/// Whether an array of four times the last-level cache finds room, on a machine that others use as well.
bool has_room_for_peaks(Backend const& place) {
  return place.device_memory_free().value_or(host_memory_free()) > 8 * place.last_level_cache();
}

TEST_P(EachBackend, HasPeaks) {
  Backend& place = backend(GetParam());
  if (!has_room_for_peaks(place)) GTEST_SKIP() << "little memory is free beside a large cache";
  EXPECT_EQ(place.known_peaks().bandwidth(), 0) << "nothing is measured before it is asked for";
  model::Peaks const single = place.peaks({DType::fp32});
  EXPECT_GT(single.flops, 1e8);
  EXPECT_GT(single.bandwidth, 1e8);
  EXPECT_EQ(place.peaks({DType::fp32}).flops, single.flops) << "measured once";
  EXPECT_EQ(place.peaks({DType::bf16}).flops, single.flops) << "16-bit types compute in float32";
  // Not that it is slower: a machine that others use may lend them the cores just then.
  EXPECT_GT(place.peaks({DType::fp64}).flops, 1e8);
  EXPECT_GT(place.info().scratch_bytes[0], 0);
  KnownPeaks const known = place.known_peaks();
  EXPECT_EQ(std::max(known.read, known.copy), single.bandwidth);
  EXPECT_GT(std::min(known.read, known.copy), 1e8);
}

TEST_P(EachBackend, HasAPeakForPairsOfBfloat16) {
  Backend& place = backend(GetParam());
  if (place.device_memory_free()) GTEST_SKIP() << "not on the host";
  if (!has_room_for_peaks(place)) GTEST_SKIP() << "little memory is free beside a large cache";
  double const pairs = place.peaks({DType::bf16, "rows-avx512-bf16"}).flops;
  if (peak_kernel_bf16().run == nullptr) {
    EXPECT_EQ(pairs, 0);
  } else {
    EXPECT_GT(pairs, 1e8);
    EXPECT_NE(pairs, place.peaks({DType::bf16}).flops) << "measured by itself";
  }
}

TEST_P(EachBackend, MeasuresNoBandwidthWhereMemoryIsShort) {
  Backend& place = backend(GetParam());
  if (place.last_level_cache() <= 0) GTEST_SKIP() << "the size of the last-level cache is not known";
  try {
    static_cast<void>(place.peaks({DType::fp32, {}, place.last_level_cache()}));
    FAIL() << "measured in memory that is not there";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("memory_limit: "));
  }
  if (!has_room_for_peaks(place)) GTEST_SKIP() << "little memory is free beside a large cache";
  EXPECT_GT(place.peaks({DType::fp32, {}, 4 * place.last_level_cache()}).bandwidth, 1e8);
}

TEST_P(EachBackend, GivesABlasAsManyThreads) {
  Backend& place = backend(GetParam());
  if (!kokkos_ext::blas_threads() || place.device_memory_free())
    GTEST_SKIP() << "no host BLAS that tells its threads";
  Session session(Settings{});
  session.measure(one_case(GetParam(), DType::fp32, Kernel::naive));
  EXPECT_EQ(kokkos_ext::blas_threads(), place.info().concurrency);
}

INSTANTIATE_TEST_SUITE_P(All, EachBackend, ::testing::ValuesIn(available_backends()));

TEST(Backends, RefuseWhatIsNotThere) {
  EXPECT_EQ(resolve_backend("auto"), available_backends().front());
  try {
    resolve_backend("abacus");
    FAIL();
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("`abacus` is not available"));
    for (std::string const& name : available_backends())
      EXPECT_THAT(error.what(), ::testing::HasSubstr(name));
  }
}

}  // namespace
}  // namespace flashpad::measure
