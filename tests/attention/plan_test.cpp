// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/attention.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

namespace flashpad {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using View4 = Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace>;
using View3 = Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Inputs whose answer is plain: all keys equal, so O is the mean of V and LSE = score + log(keys).
struct Uniform {
  Shape shape{1, 2, 2, 30, 40, 16, 16};
  View4 q{"q", 1, 2, 30, 16}, k{"k", 1, 2, 40, 16}, v{"v", 1, 2, 40, 16}, o{"o", 1, 2, 30, 16};
  View3 lse{"lse", 1, 2, 30};

  Uniform() {
    Kokkos::deep_copy(q, 0.5f);
    Kokkos::deep_copy(k, 2.0f);
    for (unsigned h = 0; h < 2; ++h) {
      for (unsigned j = 0; j < 40; ++j) {
        for (unsigned c = 0; c < 16; ++c) v(0, h, j, c) = static_cast<float>(j + h);
      }
    }
    clear();
  }
  void clear() const {  // with plain loops: it is called from threads that Kokkos may not serve
    std::fill(o.data(), o.data() + o.span(), NAN);
    std::fill(lse.data(), lse.data() + lse.span(), NAN);
  }
  void expect_right(bool with_lse = true) const {
    for (unsigned h = 0; h < 2; ++h) {
      for (unsigned i = 0; i < 30; ++i) {
        EXPECT_NEAR(o(0, h, i, 3), 19.5f + static_cast<float>(h), 1e-4);
        if (with_lse) {
          EXPECT_NEAR(lse(0, h, i), 4 + std::log(40.0f), 1e-5);
        }
      }
    }
  }
};

template <class F>
std::string refusal(F const& f) {
  try {
    f();
  } catch (Error const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Attention, OneCall) {
  Uniform const u;
  Exec const exec;
  attention(exec, u.q, u.k, u.v, u.o);
  exec.fence();
  u.expect_right(false);
  u.clear();
  attention(exec, u.q, u.k, u.v, u.o, u.lse, Options{.kernel = Kernel::naive});
  exec.fence();
  u.expect_right();
}

TEST(Attention, ConstInputsAndOptionsByName) {
  Uniform const u;
  Exec const exec;
  Kokkos::View<float const****, Kokkos::LayoutRight, Kokkos::HostSpace> const q = u.q, k = u.k, v = u.v;
  attention(exec, q, k, v, u.o, {.mask = Mask::causal(), .scale = 0.25, .tile = {16, 8}});
  exec.fence();
  // Row i sees keys 0 .. i + 10.
  EXPECT_NEAR(u.o(0, 0, 0, 0), 5.0f, 1e-4);
  EXPECT_NEAR(u.o(0, 0, 29, 0), 19.5f, 1e-4);
}

TEST(Attention, StridedViewsOfABnhdTensor) {
  // (batch, n, head, d) in memory, passed as (batch, head, n, d).
  Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace> const packed("packed", 1, 40, 2, 16);
  Uniform const u;
  using Strided = Kokkos::View<float****, Kokkos::LayoutStride, Kokkos::HostSpace>;
  Strided const v(packed.data(), Kokkos::LayoutStride(1, 40 * 2 * 16, 2, 16, 40, 2 * 16, 16, 1));
  Kokkos::deep_copy(v, u.v);
  Exec const exec;
  attention(exec, u.q, u.k, v, u.o);
  exec.fence();
  u.expect_right(false);
}

TEST(Plan, ServesManyCalls) {
  Uniform const u;
  Exec const exec;
  Plan<Exec> const plan(exec, u.shape, DType::fp32);
  for (int i = 0; i < 3; ++i) {
    u.clear();
    plan(exec, u.q, u.k, u.v, u.o, u.lse);
    exec.fence();
    u.expect_right();
  }
  EXPECT_EQ(plan.shape(), u.shape);
}

TEST(Plan, TellsWhatItChose) {
  Uniform const u;
  Exec const exec;
  Choice const fused = Plan<Exec>(exec, u.shape, DType::fp32).choice();
  EXPECT_EQ(fused.kernel, Kernel::fused);
  EXPECT_THAT(fused.engine, testing::StartsWith("portable-"));
  EXPECT_GT(fused.tile.q, 0);
  EXPECT_GT(fused.tile.k, 0);
  EXPECT_GT(fused.scratch_bytes, 0);
  EXPECT_EQ(fused.workspace_bytes, 0);
  EXPECT_THAT(fused.why, testing::HasSubstr("naive passed over"));
#if !defined(KOKKOS_ENABLE_CUDA)
  EXPECT_THAT(fused.why, testing::HasSubstr("; hopper passed over: kernel: hopper is not available on "));
#endif
  Choice const naive = Plan<Exec>(exec, u.shape, DType::fp32, {.kernel = Kernel::naive}).choice();
  EXPECT_EQ(naive.workspace_bytes, 2 * 30 * 40 * 4);
  EXPECT_EQ(naive.tile, Tile{});
  EXPECT_EQ(naive.why, "");
}

TEST(Plan, MayGoWhileItsWorkIsInFlight) {
  Uniform const u;
  Exec const exec;
  {
    Plan<Exec> const plan(exec, u.shape, DType::fp32, {.kernel = Kernel::naive});
    plan(exec, u.q, u.k, u.v, u.o, u.lse);
  }
  std::optional<Plan<Exec>> first(std::in_place, exec, u.shape, DType::fp32, Options{.splits = 3});
  Plan<Exec> const copy = *first;
  first.reset();
  u.clear();
  copy(exec, u.q, u.k, u.v, u.o, u.lse);
  exec.fence();
  u.expect_right();
}

TEST(Plan, OnTwoInstances) {
  Uniform const a, b;
  Exec const one, two;
  Plan<Exec> const plan(one, a.shape, DType::fp32, {.kernel = Kernel::naive});
  for (int i = 0; i < 5; ++i) {
    a.clear();
    b.clear();
    plan(one, a.q, a.k, a.v, a.o, a.lse);
    plan(two, b.q, b.k, b.v, b.o, b.lse);
    one.fence();
    two.fence();
    a.expect_right();
    b.expect_right();
  }
}

/// Calls one shared plan, and plans of the thread's own, from two threads at once.
template <class E>
void call_from_two_threads() {
  E const exec;
  std::vector<Uniform> work(2);
  for (Kernel const kernel : {Kernel::naive, Kernel::fused}) {
    Plan<E> const shared(exec, work[0].shape, DType::fp32, {.kernel = kernel});
    std::vector<std::thread> threads;
    for (Uniform const& u : work) {
      threads.emplace_back([&shared, &exec, &u, kernel] {
        for (int i = 0; i < 50; ++i) {
          u.clear();
          if (i % 2 == 0) {
            shared(exec, u.q, u.k, u.v, u.o, u.lse);
          } else {
            Plan<E>(exec, u.shape, DType::fp32, {.kernel = kernel})(exec, u.q, u.k, u.v, u.o, u.lse);
          }
          exec.fence();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (Uniform const& u : work) u.expect_right();
  }
}

#ifdef KOKKOS_ENABLE_SERIAL
TEST(Plan, FromTwoHostThreadsOnSerial) { call_from_two_threads<Kokkos::Serial>(); }
#endif

#ifdef KOKKOS_ENABLE_OPENMP
TEST(Plan, FromTwoHostThreadsOnOpenMP) {
#if KOKKOS_VERSION >= 40000
  call_from_two_threads<Kokkos::OpenMP>();
#else
  // The backend itself cannot: the library says so instead of failing somewhere inside.
  Uniform const u;
  std::string message;
  Kokkos::OpenMP const exec;
  std::thread([&] { message = refusal([&] { Plan<Kokkos::OpenMP>(exec, u.shape, DType::fp32); }); }).join();
  EXPECT_THAT(message, testing::StartsWith(
                           "exec: OpenMP of Kokkos 3 takes work from the host thread that initialised"));
#endif
}
#endif

int allocations = 0;
void count_allocation(Kokkos::Tools::SpaceHandle, char const*, void const*, std::uint64_t) { ++allocations; }

TEST(Plan, ACallAllocatesNothing) {
  Uniform const u;
  Exec const exec;
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  for (Options const& options : {Options{}, Options{.kernel = Kernel::naive}, Options{.splits = 4}}) {
    Plan<Exec> const plan(exec, u.shape, DType::fp32, options);
    allocations = 0;
    plan(exec, u.q, u.k, u.v, u.o, u.lse);
    exec.fence();
    EXPECT_EQ(allocations, 0);
  }
  allocations = 0;
  Kokkos::View<float*, Kokkos::HostSpace> const probe("probe", 8);
  EXPECT_EQ(allocations, 1) << "allocations are not seen at all";
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
}

TEST(Plan, RefusesWhatItCannotDo) {
  Exec const exec;
  Shape const good{1, 2, 2, 30, 40, 64, 64};
  auto const plan = [&](Options const& options) {
    return refusal([&] { Plan<Exec>(exec, good, DType::fp32, options); });
  };
  EXPECT_EQ(plan({}), "accepted");
  EXPECT_THAT(plan({.engine = "avx3"}), testing::StartsWith("engine: `avx3` is not available on "));
  EXPECT_THAT(plan({.tile = {-1, 0}}),
              testing::StartsWith("tile.q: -1 is out of range; allowed: 1 to 65536"));
  EXPECT_THAT(plan({.tile = {0, 70000}}), testing::StartsWith("tile.k: 70000 is out of range"));
  // Rows of 2 KiB: keys and values alone fill more than any host's scratch, whatever its vectors' length.
  Shape const wide{1, 1, 1, 30, 40, 256, 256};
  EXPECT_THAT(refusal([&] {
                Plan<Exec>(exec, wide, DType::fp32, {.tile = {65536, 65536}});
              }),
              testing::AllOf(testing::StartsWith("tile: 65536x65536 needs "),
                             testing::HasSubstr(" bytes of team scratch; allowed: ")));
  EXPECT_THAT(plan({.splits = 5000}),
              testing::StartsWith("splits: 5000 is out of range; allowed: 1 to 1024"));
  EXPECT_THAT(plan({.scale = NAN}), testing::StartsWith("scale: nan is not a finite number"));
  EXPECT_THAT(plan({.scale = 1e300}), testing::StartsWith("scale: 1e+300 is not a finite number"));
  EXPECT_THAT(plan({.scale = -2.4e38}), testing::EndsWith("allowed: up to 2.35e+38, and its negative"));
  EXPECT_THAT(plan({.kernel = Kernel::naive, .engine = "zz"}),
              testing::StartsWith("engine: `zz` is not available"));
  EXPECT_THAT(plan({.workspace_limit = -5}), testing::StartsWith("workspace_limit: -5 is out of range"));
  EXPECT_THAT(plan({.workspace_limit = NAN}), testing::StartsWith("workspace_limit: nan is out of range"));
  EXPECT_THAT(plan({.mask = {-3, 0}}), testing::StartsWith("mask.left: -3 is not a mask limit"));
}

TEST(Plan, NaiveWithoutRoomForOneHeadIsOutOfMemory) {
  Exec const exec;
  Shape const shape{1, 2, 2, 300, 400, 16, 16};
  try {
    Plan<Exec>(exec, shape, DType::fp32, {.kernel = Kernel::naive, .workspace_limit = 1000});
    FAIL() << "accepted";
  } catch (OutOfMemory const& error) {
    EXPECT_EQ(error.bytes_needed(), 300 * 400 * 4);
    EXPECT_THAT(error.what(),
                testing::HasSubstr("needs 480000 bytes for the scores of one head; allowed: 1000"));
  }
}

TEST(Plan, SizesThatNoMemoryHoldsDoNotOverflow) {
  Exec const exec;
  std::int64_t const huge = 1518500250;  // its square, times 8 bytes, is just above 2^64
  EXPECT_THROW(Plan<Exec>(exec, {1, 1, 1, huge, huge, 16, 16}, DType::fp64,
                          {.kernel = Kernel::naive, .workspace_limit = 1e9}),
               OutOfMemory);
  EXPECT_THROW(Plan<Exec>(exec, {1, 1, 1, huge, huge, 16, 16}, DType::fp64, {.kernel = Kernel::naive}),
               OutOfMemory);
  std::int64_t const many = std::int64_t{1} << 40;
  for (Kernel const kernel : {Kernel::naive, Kernel::fused}) {
    EXPECT_THROW(Plan<Exec>(exec, {many, many, 1, 0, 0, 16, 16}, DType::fp32, {.kernel = kernel}), Error);
  }
}

TEST(Plan, RefusesArgumentsOfAnotherShape) {
  Uniform const u;
  Exec const exec;
  Plan<Exec> const plan(exec, {1, 2, 2, 30, 41, 16, 16}, DType::fp32);
  EXPECT_EQ(refusal([&] { plan(exec, u.q, u.k, u.v, u.o); }),
            "k: its extents are (1, 2, 40, 16); this plan takes (1, 2, 41, 16)");
  EXPECT_EQ(refusal([&] { attention(exec, u.q, u.k, u.v, u.q); }),
            "o: its memory overlaps that of q; an output may not overlap");
  EXPECT_THAT(refusal([&] { plan.statistics(exec, u.q, u.k, u.lse, u.lse); }),
              testing::HasSubstr("k: its extents"));
}

TEST(Statistics, GiveTheLogSumExp) {
  Uniform const u;
  Exec const exec;
  View3 const max("max", 1, 2, 30), sum("sum", 1, 2, 30);
  Plan<Exec> const plan(exec, u.shape, DType::fp32, {.kernel = Kernel::stats});
  plan.statistics(exec, u.q, u.k, max, sum);
  exec.fence();
  EXPECT_NEAR(max(0, 1, 7), 4, 1e-6);
  EXPECT_NEAR(sum(0, 1, 7), 40, 1e-4);
}

TEST(EngineNames, BestFirst) {
  std::vector<std::string> const names = engine_names<Exec>();
  EXPECT_THAT(names, testing::Contains("portable-baseline"));
  EXPECT_EQ(names.back(), "simt");
  EXPECT_THAT(engine_names<Exec>(DType::fp32).front(), testing::AnyOf("amx-bf16x3", "portable"));
  EXPECT_EQ(engine_names<Exec>(DType::fp64).front(), "portable");
}

TEST(EngineNames, AnEngineOfOneTypeIsRefusedForTheOthers) {
  std::vector<std::string> const in_bf16 = engine_names<Exec>(DType::bf16);
  if (std::find(in_bf16.begin(), in_bf16.end(), "avx512-bf16") == in_bf16.end()) {
    GTEST_SKIP() << "this processor has no AVX-512 BF16";
  }
  EXPECT_THAT(in_bf16.front(), testing::AnyOf("amx-bf16", "avx512-bf16"));
  EXPECT_THAT(engine_names<Exec>(), testing::Contains("avx512-bf16"));
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16}) {
    EXPECT_THAT(engine_names<Exec>(dtype), testing::Not(testing::Contains("avx512-bf16")));
    EXPECT_THAT(refusal([&] {
                  Plan<Exec>(Exec(), {1, 1, 1, 8, 8, 16, 16}, dtype, {.engine = "avx512-bf16"});
                }),
                testing::HasSubstr(std::string("engine: `avx512-bf16` is not available on ") + Exec::name() +
                                   " in " + std::string(name(dtype)) + "; available: "));
  }
}

TEST(KernelNames, ThereAndBack) {
  for (std::string const& known : kernel_names()) EXPECT_EQ(name(kernel_from_name(known)), known);
  EXPECT_EQ(refusal([] { kernel_from_name("fusd"); }),
            "kernel: `fusd` is not known; allowed: auto, naive, naive-vendor, fused, hopper, stats");
}

}  // namespace
}  // namespace flashpad
