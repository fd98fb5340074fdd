// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/attention.hpp>

#include "kokkos_ext/half.hpp"

#include <Kokkos_Core.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

// What only a large device shows: counts beyond 32 bits and beyond a grid's axes, streams, memory that runs
// out. Inputs are a function of the index that device and host share; O is checked on sampled rows in
// float64.

namespace flashpad::test {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Tensor = Kokkos::View<half****, Kokkos::LayoutRight, Exec>;

/// In [-1, 1), exact in fp16.
KOKKOS_FUNCTION float value_at(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t x = index + seed * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<float>(static_cast<std::int64_t>((x >> 40) % 2048) - 1024) / 1024.0f;
}

struct Fill {
  half* data;
  std::uint64_t seed;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    data[i] = from_float<half>(value_at(static_cast<std::uint64_t>(i), seed));
  }
};

Tensor filled(char const* label, std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t c,
              std::uint64_t seed) {
  Tensor const tensor(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), b, h, n, c);
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("test::fill", Policy(0, static_cast<std::int64_t>(tensor.size())),
                       Fill{tensor.data(), seed});
  return tensor;
}

/// Row (b, h, i) by the definition.
std::vector<double> expected_row(Shape const& s, Mask const& mask, std::int64_t b, std::int64_t h,
                                 std::int64_t i) {
  std::int64_t const g = h / (s.heads / s.kv_heads);
  std::int64_t const p = i + s.seq_k - s.seq_q;
  std::int64_t const first = mask.left < 0 ? 0 : std::max<std::int64_t>(0, p - mask.left);
  std::int64_t const last = mask.right < 0 ? s.seq_k - 1 : std::min(s.seq_k - 1, p + mask.right);
  auto const at = [](std::int64_t row, std::int64_t dim, std::int64_t c) {
    return static_cast<std::uint64_t>(row * dim + c);
  };
  std::vector<double> o(static_cast<std::size_t>(s.value_dim), 0.0);
  double sum = 0;
  for (std::int64_t j = first; j <= last; ++j) {
    double score = 0;
    for (std::int64_t c = 0; c < s.head_dim; ++c) {
      score += static_cast<double>(value_at(at((b * s.heads + h) * s.seq_q + i, s.head_dim, c), 1)) *
               static_cast<double>(value_at(at((b * s.kv_heads + g) * s.seq_k + j, s.head_dim, c), 2));
    }
    double const weight = std::exp(score / std::sqrt(static_cast<double>(s.head_dim)));
    sum += weight;
    for (std::int64_t c = 0; c < s.value_dim; ++c) {
      o[static_cast<std::size_t>(c)] +=
          weight * static_cast<double>(value_at(at((b * s.kv_heads + g) * s.seq_k + j, s.value_dim, c), 3));
    }
  }
  for (double& x : o) x /= sum;
  return o;
}

void expect_rows(Shape const& s, Mask const& mask, Tensor const& o) {
  for (std::int64_t sample = 0; sample < 24; ++sample) {
    // The first row, the last, and others between them.
    std::int64_t const rows = s.batch * s.heads * s.seq_q;
    std::int64_t const row = (rows - 1) / 23 * sample + (sample == 23 ? (rows - 1) % 23 : 0);
    std::int64_t const b = row / (s.heads * s.seq_q), h = row / s.seq_q % s.heads, i = row % s.seq_q;
    auto const got =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::subview(o, b, h, i, Kokkos::ALL()));
    std::vector<double> const want = expected_row(s, mask, b, h, i);
    for (std::int64_t c = 0; c < s.value_dim; ++c) {
      ASSERT_NEAR(to_float(got(c)), want[static_cast<std::size_t>(c)], 2e-3)
          << "row " << b << ", " << h << ", " << i << ", column " << c;
    }
  }
}

Tensor outputs(Shape const& s) {
  Tensor const o("o", s.batch, s.heads, s.seq_q, s.value_dim);
  Kokkos::deep_copy(Kokkos::View<unsigned char*, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        reinterpret_cast<unsigned char*>(o.data()), o.size() * sizeof(half)),
                    static_cast<unsigned char>(0xff));
  return o;
}

/// A plan, or none where this device has no such kernel or too little memory: of all refusals only these.
std::unique_ptr<Plan<Exec>> plan_or_reason(Exec const& exec, Shape const& s, Options const& options,
                                           std::string& reason) {
  try {
    return std::make_unique<Plan<Exec>>(exec, s, DType::fp16, options);
  } catch (OutOfMemory const& error) {
    reason = error.what();
  } catch (Error const& error) {
    reason = error.what();
    std::string const asked = "kernel: " + std::string(name(options.kernel));
    bool const elsewhere =
        reason.rfind(asked + " needs a", 0) == 0 || reason.rfind(asked + " is not available on ", 0) == 0;
    if (!elsewhere) throw;
  }
  return nullptr;
}

/// Runs one call of the kernel and checks it; skips what the device cannot do or hold.
void run_large(Shape const& s, Mask const& mask, Kernel kernel) {
  Options options;
  options.mask = mask;
  options.kernel = kernel;
  Exec const exec;
  std::string reason;
  auto const plan = plan_or_reason(exec, s, options, reason);
  if (!plan) GTEST_SKIP() << reason;
  Tensor const q = filled("q", s.batch, s.heads, s.seq_q, s.head_dim, 1);
  Tensor const k = filled("k", s.batch, s.kv_heads, s.seq_k, s.head_dim, 2);
  Tensor const v = filled("v", s.batch, s.kv_heads, s.seq_k, s.value_dim, 3);
  Tensor const o = outputs(s);
  (*plan)(exec, q, k, v, o);
  exec.fence();
  expect_rows(s, mask, o);
}

class Pressure : public testing::TestWithParam<Kernel> {};
INSTANTIATE_TEST_SUITE_P(All, Pressure,
                         testing::Values(Kernel::naive, Kernel::naive_vendor, Kernel::fused, Kernel::hopper,
                                         Kernel::automatic),
                         [](auto const& given) {
                           std::string text(name(given.param));
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

// 70,400 heads, above a grid's 65,535; 4.6e9 elements in 9.2 GB, above 2^31 and 2^32.
TEST_P(Pressure, ManyHeads) { run_large({1100, 64, 64, 512, 512, 128, 128}, Mask::causal(), GetParam()); }

// One head of 16.8 million rows: 2.15e9 elements, so that a row's own offset passes 2^31.
TEST_P(Pressure, OneLongHead) {
  if (stores_scores(GetParam())) GTEST_SKIP() << "stores the scores of all pairs";
  run_large({1, 1, 1, 16'800'000, 16'800'000, 128, 128}, Mask::window(100, 0), GetParam());
}

TEST_P(Pressure, MemoryThatRunsOutIsAnError) {
  Shape const huge = {1, 1, 1, 1'000'000, 1'000'000, 64, 64};  // 2 to 4 TB of scores
  Options options;
  options.kernel = GetParam();
  if (stores_scores(GetParam())) {
    EXPECT_THROW(Plan<Exec>(Exec(), huge, DType::fp16, options), OutOfMemory);
  }
  run_large({1, 2, 2, 300, 300, 64, 64}, Mask::none(), GetParam());  // and the device still works
}

// A base that hopper's copy engine cannot address: by name it is refused, auto's other kernel takes it.
TEST(Misaligned, IsRefusedByNameAndServedByAuto) {
  Shape const s = {1, 4, 2, 300, 300, 64, 64};
  Exec const exec;
  Tensor const q = filled("q", s.batch, s.heads, s.seq_q, s.head_dim, 1);
  Tensor const k = filled("k", s.batch, s.kv_heads, s.seq_k, s.head_dim, 2);
  Tensor const v = filled("v", s.batch, s.kv_heads, s.seq_k, s.value_dim, 3);
  Tensor const o = outputs(s);
  Kokkos::View<half*, Exec> const room("k, one element further", k.size() + 1);
  Kokkos::View<half****, Kokkos::LayoutRight, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const further(
      room.data() + 1, s.batch, s.kv_heads, s.seq_k, s.head_dim);
  Kokkos::deep_copy(further, k);
  Plan<Exec>(exec, s, DType::fp16)(exec, q, further, v, o);
  exec.fence();
  expect_rows(s, Mask::none(), o);

  Options options;
  options.kernel = Kernel::hopper;
  std::string reason;
  auto const plan = plan_or_reason(exec, s, options, reason);
  if (!plan) GTEST_SKIP() << reason;
  try {
    (*plan)(exec, q, further, v, o);
    FAIL() << "a misaligned k was accepted";
  } catch (Error const& error) {
    EXPECT_EQ(std::string(error.what()),
              "k: its address is not a multiple of 16 bytes; the copy engine of hopper needs it");
  }
}

#ifdef KOKKOS_ENABLE_CUDA
TEST_P(Pressure, TwoStreamsAtOnceAndInTurn) {
  Options options;
  options.kernel = GetParam();
  options.mask = Mask::causal();
  Shape const s = {2, 8, 2, 700, 900, 64, 64};
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams)
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    Exec const instances[2] = {Exec(streams[0]), Exec(streams[1])};
    std::unique_ptr<Plan<Exec>> plans[2];
    for (int i : {0, 1}) {
      std::string reason;
      plans[i] = plan_or_reason(instances[i], s, options, reason);
      if (!plans[i]) GTEST_SKIP() << reason;
    }
    Tensor const q = filled("q", s.batch, s.heads, s.seq_q, s.head_dim, 1);
    Tensor const k = filled("k", s.batch, s.kv_heads, s.seq_k, s.head_dim, 2);
    Tensor const v = filled("v", s.batch, s.kv_heads, s.seq_k, s.value_dim, 3);
    Tensor const o[3] = {outputs(s), outputs(s), outputs(s)};
    Kokkos::fence();
    for (int turn = 0; turn < 20; ++turn) {
      for (int i : {0, 1}) (*plans[i])(instances[i], q, k, v, o[i]);  // each its own plan, at once
    }
    for (int i : {0, 1}) instances[i].fence();
    for (int turn = 0; turn < 20; ++turn)
      (*plans[0])(instances[turn % 2], q, k, v, o[2]);  // one plan, in turn
    for (int i : {0, 1}) instances[i].fence();
    for (Tensor const& each : o) expect_rows(s, options.mask, each);
    auto const first = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), o[0]);
    for (int i : {1, 2}) {
      auto const other = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), o[i]);
      EXPECT_EQ(std::memcmp(first.data(), other.data(), first.size() * sizeof(half)), 0) << i;
    }
  }
  for (cudaStream_t const& stream : streams) cudaStreamDestroy(stream);
}
#endif

}  // namespace
}  // namespace flashpad::test
