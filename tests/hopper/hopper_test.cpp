// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/hopper/hopper.hpp"
#include "kernels/hopper/params.hpp"
#include "kernels/hopper/sections.hpp"
#include "measure/elements.hpp"
#include "measure/inputs.hpp"
#include "measure/verify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <tuple>

// The Hopper kernel against the float64 reference, on a GPU. It needs no Kokkos with CUDA.

namespace flashpad::hopper {
namespace {

bool has_hopper() {
  int device = 0;
  int major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major == 9;
}

/// Device memory between poisoned guards.
class DeviceTensor {
 public:
  DeviceTensor(measure::Extents const& extents, DType dtype, Layout layout)
      : m_extents(extents), m_dtype(dtype), m_layout(layout) {
    m_bytes = static_cast<std::size_t>(extents.count() * size_of(dtype));
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&m_data), m_bytes + 2 * guard), cudaSuccess);
    EXPECT_EQ(cudaMemset(m_data, 0xff, m_bytes + 2 * guard), cudaSuccess);
  }
  DeviceTensor(DeviceTensor const&) = delete;
  DeviceTensor& operator=(DeviceTensor const&) = delete;
  ~DeviceTensor() { cudaFree(m_data); }

  void put(std::vector<double> const& values) {
    std::vector<std::byte> const bytes = measure::pack(values, m_extents, m_dtype, m_layout);
    EXPECT_EQ(cudaMemcpy(data(), bytes.data(), m_bytes, cudaMemcpyHostToDevice), cudaSuccess);
  }

  std::vector<std::byte> get() {
    std::vector<std::byte> bytes(m_bytes);
    EXPECT_EQ(cudaMemcpy(bytes.data(), data(), m_bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    return bytes;
  }

  bool guards_intact() {
    std::vector<unsigned char> all(m_bytes + 2 * guard);
    EXPECT_EQ(cudaMemcpy(all.data(), m_data, all.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    for (std::size_t i = 0; i < guard; ++i) {
      if (all[i] != 0xff || all[guard + m_bytes + i] != 0xff) return false;
    }
    return true;
  }

  Operand operand() {
    auto const stride = measure::strides(m_extents, m_layout);
    std::int64_t const size = size_of(m_dtype);
    return {data(), stride[0] * size, stride[1] * size, stride[2] * size};
  }

 private:
  static constexpr std::size_t guard = 1024;

  char* data() { return m_data + guard; }

  measure::Extents m_extents;
  DType m_dtype;
  Layout m_layout;
  std::size_t m_bytes = 0;
  char* m_data = nullptr;
};

using Edit = std::function<void(Shape const&, measure::Inputs&)>;

class Hopper : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!has_hopper()) GTEST_SKIP() << "no GPU of compute capability 9 here";
  }

  /// Zeroed once for all tests: every launch must leave it fit for the next.
  static void* workspace(std::int64_t bytes) {
    static constexpr std::int64_t most = std::int64_t{1} << 28;
    static void* const memory = [] {
      void* all = nullptr;
      EXPECT_EQ(cudaMalloc(&all, most), cudaSuccess);
      EXPECT_EQ(cudaMemset(all, 0, most), cudaSuccess);
      return all;
    }();
    EXPECT_LE(bytes, most);
    return memory;
  }

  static measure::Outputs run(Case const& one, measure::Inputs const& inputs) {
    Shape const& shape = one.shape;
    DeviceTensor q(measure::extents_of_q(shape), one.dtype, one.layout),
        k(measure::extents_of_k(shape), one.dtype, one.layout);
    DeviceTensor v(measure::extents_of_v(shape), one.dtype, one.layout),
        o(measure::extents_of_o(shape), one.dtype, one.layout);
    measure::Extents const per_row{shape.batch, shape.heads, shape.seq_q, 1};
    DeviceTensor lse(per_row, DType::fp32, Layout::bhnd);
    q.put(inputs.q);
    k.put(inputs.k);
    v.put(inputs.v);
    HopperCall call;
    call.shape = shape;
    call.dtype = one.dtype;
    call.mask = one.mask;
    call.scale = one.scale.value_or(1 / std::sqrt(static_cast<double>(shape.head_dim)));
    call.tile = one.tile;
    call.stages = one.stages;
    call.q = q.operand();
    call.k = k.operand();
    call.v = v.operand();
    call.o = o.operand();
    call.lse = lse.operand();
    EXPECT_EQ(hopper_refusal(call), "");
    call.workspace = workspace(hopper_workspace(call));
    launch_hopper(call, nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);

    measure::Outputs outputs;
    outputs.o = o.get();
    outputs.lse = measure::unpack(lse.get(), per_row, DType::fp32, Layout::bhnd);
    EXPECT_TRUE(o.guards_intact() && lse.guards_intact());
    return outputs;
  }

  /// The kernel's own choice for a call first, and what else it can be asked for.
  static std::vector<HopperTiling> tilings_of(Shape const& shape, Mask const& mask) {
    HopperCall call;
    call.shape = shape;
    call.mask = mask;
    return hopper_tilings(call);
  }

  /// O of one call on random inputs.
  std::vector<std::byte> bits_of(Shape const& shape) {
    Case one;
    one.shape = shape;
    one.dtype = GetParam();
    one.kernel = Kernel::fused;
    return run(one, measure::make_inputs(one)).o;
  }

  void expect_right(Shape const& shape, Mask const& mask, Edit const& edit = {},
                    std::optional<double> scale = {}, Layout layout = Layout::bhnd,
                    HopperTiling const& tiling = {}) {
    Case one;
    one.tile = tiling.tile;
    one.stages = tiling.stages;
    one.shape = shape;
    one.mask = mask;
    one.dtype = GetParam();
    one.scale = scale;
    one.layout = layout;
    one.kernel = Kernel::fused;
    measure::Inputs inputs = measure::make_inputs(one);
    if (edit) edit(shape, inputs);
    inputs.finite = false;  // the edits may not be
    for (std::vector<double>* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
      for (double& value : *tensor) value = measure::rounded(value, one.dtype);
    }

    measure::Outputs const outputs = run(one, inputs);
    measure::Expected const expected =
        measure::make_expected(one, inputs, measure::rows_to_verify(shape, 5e7));
    measure::Verdict const verdict = measure::verify(one, inputs, expected, outputs, {});
    EXPECT_FALSE(verdict.symptom.has_value())
        << verdict.reason << "\n  batch " << shape.batch << ", heads " << shape.heads << "/" << shape.kv_heads
        << ", seq " << shape.seq_q << " x " << shape.seq_k << ", dim " << shape.head_dim << "/"
        << shape.value_dim << ", mask " << to_string(mask) << ", tile " << tiling.tile.q << "x"
        << tiling.tile.k;
  }
};

INSTANTIATE_TEST_SUITE_P(Types, Hopper, testing::Values(DType::fp16, DType::bf16),
                         [](auto const& parameter) { return std::string(name(parameter.param)); });

TEST_P(Hopper, RaggedLengthsAndMasks) {
  for (std::int64_t const dim : {64, 96, 128, 192, 256}) {
    for (std::int64_t const n : {1, 2, 15, 17, 31, 33, 63, 64, 65, 127, 129, 192, 193, 257, 1000}) {
      for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(70, 3)}) {
        expect_right({1, 2, 2, n, n, dim, dim}, mask);
      }
    }
  }
  // Long enough for the tiles of long rows, which d = 64, 128 and 256 have without a mask.
  for (std::int64_t const dim : {64, 128, 192, 256})
    expect_right({1, 1, 1, 200, 8300, dim, dim}, Mask::none());
  for (Mask const mask : {Mask::causal(), Mask::window(3000, 500)}) {
    expect_right({1, 3, 1, 1100, 8300, 128, 128}, mask);
    expect_right({1, 3, 3, 8300, 8300, 128, 128}, mask);
  }
}

TEST_P(Hopper, QueriesAndKeysOfDifferentLengths) {
  for (auto const& [seq_q, seq_k] :
       {std::pair{1, 3000}, {7, 130}, {300, 100}, {1000, 1}, {129, 640}, {50, 0}}) {
    for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(5, 9), Mask::window(200, -1)}) {
      for (std::int64_t const dim : {64, 96, 128, 192, 256})
        expect_right({1, 2, 2, seq_q, seq_k, dim, dim}, mask);
    }
  }
}

TEST_P(Hopper, HeadDimensionsGroupsAndLayouts) {
  for (std::int64_t const dim : {16, 24, 40, 72, 80, 104, 120, 136, 160, 200, 248})
    expect_right({1, 2, 2, 300, 300, dim, dim}, Mask::causal());
  expect_right({1, 2, 2, 200, 300, 64, 128}, Mask::causal());
  expect_right({1, 2, 2, 200, 300, 128, 16}, Mask::none());
  expect_right({1, 2, 2, 200, 300, 192, 128}, Mask::causal());
  expect_right({1, 2, 2, 200, 300, 128, 192}, Mask::window(90, 4));
  expect_right({1, 2, 2, 200, 300, 256, 64}, Mask::none());
  expect_right({2, 12, 3, 200, 300, 128, 128}, Mask::causal(), {}, {}, Layout::bnhd);
  expect_right({2, 12, 1, 200, 300, 64, 64}, Mask::causal(), {}, {}, Layout::bnhd);
}

TEST_P(Hopper, EveryTilingThatCanBeAskedFor) {
  // Of short rows and of long ones, packed and not, whatever the length would choose.
  for (auto const& [dim, value_dim] :
       {std::pair{64, 64}, {96, 96}, {128, 128}, {192, 128}, {192, 192}, {256, 256}}) {
    for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(90, 4)}) {
      for (Shape const& shape :
           {Shape{1, 2, 2, 200, 700, dim, value_dim}, Shape{1, 3, 1, 333, 333, dim, value_dim},
            Shape{3, 8, 1, 3, 700, dim, value_dim}, Shape{1, 16, 1, 7, 700, dim, value_dim}}) {
        for (HopperTiling const& tiling : tilings_of(shape, mask))
          expect_right(shape, mask, {}, {}, Layout::bhnd, tiling);
      }
    }
  }
}

TEST_P(Hopper, LengthsAtWhichTheTilingChanges) {
  // d = 256 without a mask has the short tile up to 512 keys and from 2048 to 4096.
  for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(900, 7)}) {
    for (std::int64_t const dim : {64, 128}) expect_right({1, 2, 2, 200, 8300, dim, dim}, mask);
    for (std::int64_t const dim : {168, 192, 200, 256}) {
      expect_right({1, 2, 2, 500, 500, dim, dim}, mask);
      expect_right({1, 2, 2, 700, 700, dim, dim}, mask);
      expect_right({1, 2, 1, 300, 2100, dim, dim}, mask, {}, {}, Layout::bnhd);
      expect_right({1, 2, 2, 200, 4200, dim, dim}, mask);
    }
  }
}

TEST_P(Hopper, DecodingPacksHeadsAndSplitsKeys) {
  // Groups that do and do not divide a tile's rows, one tile and two, parts of which some see no key.
  for (auto const& [heads, kv_heads, seq_q] : {std::tuple{8, 1, 1},
                                               {64, 8, 1},
                                               {16, 2, 7},
                                               {8, 1, 16},
                                               {6, 2, 5},
                                               {5, 1, 20},
                                               {2, 2, 100},
                                               {128, 1, 1}}) {
    for (std::int64_t const seq_k : {1, 64, 500, 4096, 20000}) {
      for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(300, 0)}) {
        expect_right({1, heads, kv_heads, seq_q, seq_k, 128, 128}, mask);
      }
    }
  }
  for (std::int64_t const dim : {32, 64, 96, 192, 256}) {
    for (std::int64_t const seq_q : {1, 4, 16}) {
      expect_right({2, 8, 1, seq_q, 3000, dim, dim}, Mask::causal());
      expect_right({2, 8, 1, seq_q, 3000, dim, dim}, Mask::none(), {}, {}, Layout::bnhd);
    }
  }
  expect_right({2, 8, 2, 3, 3000, 128, 64}, Mask::none());
  expect_right({1, 8, 1, 1, 20000, 104, 72}, Mask::none());
  // More items than multiprocessors, with fewer and with more tiles than fit at a time.
  for (std::int64_t const dim : {64, 128}) {
    expect_right({300, 8, 2, 1, 130, dim, dim}, Mask::none());
    expect_right({90, 16, 2, 3, 1000, dim, dim}, Mask::causal());
  }
  expect_right({90, 16, 2, 3, 1000, 104, 96}, Mask::none());
}

TEST_P(Hopper, OneHeadsRowsInTwoWarpgroups) {
  // Tiles of long rows, whose other warpgroups have none; more heads than multiprocessors, and fewer. Where
  // few heads have many keys, packed tiles and their parts.
  for (std::int64_t const dim : {32, 64, 96, 128, 192, 256}) {
    for (std::int64_t const n : {65, 100, 128}) {
      for (Mask const mask : {Mask::none(), Mask::causal(), Mask::window(20, 5)})
        expect_right({1, 9, 9, n, n, dim, dim}, mask);
    }
    expect_right({1, 140, 140, 90, 400, dim, dim}, Mask::causal(), {}, {}, Layout::bnhd);
    expect_right({1, 3, 3, 128, 9000, dim, dim}, Mask::none());
    expect_right({1, 3, 3, 70, 5000, dim, dim}, Mask::causal());
  }
}

TEST_P(Hopper, SameBitsEveryTime) {
  // Blocks take items as they come, and parts of keys are merged: neither may show.
  for (Shape const& shape : {Shape{2, 8, 8, 700, 700, 128, 128}, Shape{2, 8, 1, 4, 30000, 128, 128},
                             Shape{2, 8, 1, 1, 30000, 128, 128}}) {
    std::vector<std::byte> const first = bits_of(shape);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(bits_of(shape), first);
  }
}

TEST_P(Hopper, ManyHeadsAndLongRows) {
  expect_right({3, 70, 70, 130, 130, 64, 64}, Mask::causal());
  expect_right({40, 40, 40, 65, 65, 128, 128}, Mask::causal());
  expect_right({1, 4, 4, 5000, 5000, 128, 128}, Mask::causal());
  expect_right({1, 4, 4, 5000, 5000, 64, 64}, Mask::none());
  expect_right({1, 40, 40, 3100, 3100, 64, 64}, Mask::causal());
  expect_right({1, 70000, 70000, 3, 5, 64, 64}, Mask::none());
}

TEST_P(Hopper, ScaleIsAValue) {
  // The last is 0 as a float.
  for (double const scale : {0.0, -0.3, 2.0, 1e-46}) {
    expect_right({1, 1, 1, 300, 300, 128, 128}, Mask::causal(), {}, scale);
    expect_right({1, 1, 1, 300, 300, 64, 64}, Mask::window(40, 0), {}, scale);
  }
}

TEST_P(Hopper, MaximaThatMoveFromTileToTile) {
  for (double const slope : {0.05, -0.05, 0.4, -0.4, 5.0}) {
    Edit const edit = [slope](Shape const& s, measure::Inputs& inputs) {
      std::fill(inputs.q.begin(), inputs.q.end(), 0.0);
      std::fill(inputs.k.begin(), inputs.k.end(), 0.0);
      for (std::int64_t i = 0; i < s.seq_q; ++i) inputs.q[static_cast<std::size_t>(i * s.head_dim)] = 1;
      for (std::int64_t j = 0; j < s.seq_k; ++j) {
        inputs.k[static_cast<std::size_t>(j * s.head_dim)] = slope * static_cast<double>(j);
      }
    };
    for (std::int64_t const dim : {64, 96, 128, 192, 256}) {
      expect_right({1, 1, 1, 200, 700, dim, dim}, Mask::none(), edit, 1.0);
      expect_right({1, 1, 1, 200, 700, dim, dim}, Mask::causal(), edit, 1.0);
      expect_right({1, 8, 1, 3, 3000, dim, dim}, Mask::none(), edit, 1.0);
    }
  }
}

/// Of key head h, one key alone has a score of 200 and not 0, for one row in 16, so that every warp has one:
/// in each head another key and other rows.
struct HotKeys {
  static constexpr std::int64_t heads = 128, first_key = 40;
  Shape shape;
  std::int64_t shift;

  bool is_hot(std::int64_t kv_head, std::int64_t packed_row) const {
    return (packed_row - 7 * kv_head - shift) % 16 == 0;
  }

  void edit(measure::Inputs& inputs) const {
    Shape const& s = shape;
    std::int64_t const group = s.heads / s.kv_heads;
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0);
    std::fill(inputs.k.begin(), inputs.k.end(), 0.0);
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t i = 0; i < s.seq_q; ++i) {
        if (is_hot(h / group, row_of(h, i)))
          inputs.q[static_cast<std::size_t>((h * s.seq_q + i) * s.head_dim)] = 1;
      }
    }
    for (std::int64_t h = 0; h < s.kv_heads; ++h)
      inputs.k[static_cast<std::size_t>((h * s.seq_k + first_key + h) * s.head_dim)] = 200;
  }

  /// O of a row that has seen the key is its V. Gives the number of rows looked at.
  int expect_their_values(std::vector<double> const& v, std::vector<double> const& o,
                          std::string const& what) const {
    Shape const& s = shape;
    std::int64_t const group = s.heads / s.kv_heads;
    int rows = 0;
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t i = 0; i < s.seq_q; ++i) {
        if (!is_hot(h / group, row_of(h, i))) continue;
        ++rows;
        auto const key =
            static_cast<std::size_t>((h / group * s.seq_k + first_key + h / group) * s.value_dim);
        auto const row = static_cast<std::size_t>((h * s.seq_q + i) * s.value_dim);
        for (std::size_t c = 0; c < static_cast<std::size_t>(s.value_dim); ++c) {
          double const want = v[key + c];
          if (std::fabs(o[row + c] - want) <= 0.01 * std::max(1.0, std::fabs(want))) continue;
          ADD_FAILURE() << what << ": head " << h << ", row " << i << ", column " << c << " is " << o[row + c]
                        << ", not " << want;
          return rows;
        }
      }
    }
    return rows;
  }

 private:
  /// Of a head, or where the heads of a group share a tile, of all of them: query position, then head.
  std::int64_t row_of(std::int64_t head, std::int64_t query) const {
    std::int64_t const group = shape.heads / shape.kv_heads;
    return group == 1 ? query : query * group + head % group;
  }
};

TEST_P(Hopper, AMaximumAtAnyKeyOfATile) {
  // 200 is 2^288 times the others' weight, which is infinite in any type unless it is seen at that key that
  // the maximum has grown. Every tiling, short rows and packed ones; under the mask all rows see the first
  // 200 keys.
  constexpr std::int64_t n = HotKeys::heads;
  for (auto const& [dim, value_dim] :
       {std::pair{64, 64}, {96, 96}, {128, 128}, {192, 128}, {192, 192}, {256, 256}}) {
    for (Mask const mask : {Mask::none(), Mask::causal()}) {
      for (Shape const& shape :
           {Shape{1, n, n, 200, 400, dim, value_dim}, Shape{1, 8 * n, n, 4, 400, dim, value_dim},
            Shape{1, 8 * n, n, 16, 400, dim, value_dim}}) {
        Case one;
        one.shape = shape;
        one.mask = mask;
        one.dtype = GetParam();
        one.scale = 1.0;
        one.kernel = Kernel::fused;
        measure::Inputs const random = measure::make_inputs(one);
        for (std::int64_t const shift : {0, 8}) {
          measure::Inputs inputs = random;
          HotKeys const hot = {shape, shift};
          hot.edit(inputs);
          for (HopperTiling const& tiling : tilings_of(shape, mask)) {
            one.tile = tiling.tile;
            one.stages = tiling.stages;
            std::vector<double> const o =
                measure::unpack(run(one, inputs).o, measure::extents_of_o(shape), one.dtype, one.layout);
            int const rows = hot.expect_their_values(
                inputs.v, o,
                "dim " + std::to_string(dim) + "/" + std::to_string(value_dim) + ", mask " + to_string(mask) +
                    ", tile " + std::to_string(tiling.tile.q) + "x" + std::to_string(tiling.tile.k) +
                    ", heads " + std::to_string(shape.heads) + ", shift " + std::to_string(shift));
            EXPECT_GE(rows, n);
          }
        }
      }
    }
  }
}

TEST_P(Hopper, AVisibleNanOrInfinityIsNanInTheRowsThatSeeIt) {
  constexpr std::int64_t key = 150;
  for (std::int64_t const dim : {64, 96, 128, 192, 256}) {
    for (double const value : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
      Case one;
      one.shape = {1, 2, 2, 300, 300, dim, dim};
      one.mask = Mask::causal();
      one.dtype = GetParam();
      one.kernel = Kernel::fused;
      measure::Inputs inputs = measure::make_inputs(one);
      for (std::int64_t i = 0; i < 2 * 300; ++i) inputs.q[static_cast<std::size_t>(i * dim)] = 1;
      measure::Outputs const clean = run(one, inputs);
      for (std::int64_t h = 0; h < 2; ++h) inputs.k[static_cast<std::size_t>((h * 300 + key) * dim)] = value;
      measure::Outputs const got = run(one, inputs);
      measure::Extents const extents = measure::extents_of_o(one.shape);
      std::vector<double> const o = measure::unpack(got.o, extents, one.dtype, one.layout);
      std::vector<double> const without = measure::unpack(clean.o, extents, one.dtype, one.layout);
      for (std::int64_t i = 0; i < 2 * 300; ++i) {
        auto const row = static_cast<std::size_t>(i);
        bool const sees = i % 300 >= key;
        ASSERT_EQ(std::isnan(got.lse[row]), sees) << "row " << i << ", dim " << dim << ", key of " << value;
        for (std::size_t c = row * static_cast<std::size_t>(dim);
             c < (row + 1) * static_cast<std::size_t>(dim); ++c) {
          if (sees) {
            ASSERT_TRUE(std::isnan(o[c])) << "row " << i << ", dim " << dim << ", key of " << value;
          } else {
            ASSERT_NEAR(o[c], without[c], 0.02 * std::max(1.0, std::fabs(without[c])))
                << "row " << i << ", dim " << dim << ", key of " << value;
          }
        }
      }
    }
  }
}

TEST_P(Hopper, NanInKeysThatNoRowSeesChangesNothing) {
  Edit const edit = [](Shape const& s, measure::Inputs& inputs) {
    for (std::int64_t i = 0; i < 300 * s.head_dim; ++i) inputs.k[static_cast<std::size_t>(i)] = NAN;
    for (std::int64_t i = 0; i < 300 * s.value_dim; ++i) inputs.v[static_cast<std::size_t>(i)] = INFINITY;
  };
  // 100 queries on the last keys of 500, windows of 80 to the left: keys below 320 are hidden from all.
  for (std::int64_t const dim : {64, 96, 128, 192, 256}) {
    expect_right({1, 1, 1, 100, 500, dim, dim}, Mask::window(80, 0), edit);
    expect_right({1, 8, 1, 2, 500, dim, dim}, Mask::window(80, 0), edit);
  }
}

TEST(HopperSchedule, GivesEachItemOnceAndTheLastSectionTogether) {
  for (int const section : {1, 2, 4, 7}) {
    for (int const tail : {0, 1, 5, 6}) {
      HopperSchedule schedule;
      schedule.heads = 3;
      schedule.all_heads = 6;
      schedule.query_tiles = 4;
      schedule.splits = 2;
      schedule.section = section;
      schedule.tail = tail;
      schedule.last_tile_first = true;
      std::set<std::tuple<int, int, int, int>> seen;
      int last_section = 0, last_tile = 3;
      for (int i = 0; i < schedule.size(); ++i) {
        HopperSchedule::Item const item = schedule.item(i);
        EXPECT_TRUE(seen.insert({item.batch, item.head, item.tile, item.split}).second);
        int const head = item.batch * 3 + item.head;
        int const here = head >= 6 - tail ? 6 : head / section;
        EXPECT_GE(here, last_section);
        if (here == last_section) {
          EXPECT_LE(item.tile, last_tile);
        }
        last_section = here;
        last_tile = item.tile;
      }
      EXPECT_EQ(seen.size(), 48u);
    }
  }
}

/// The sections of batch * heads heads of d = 128 on 132 multiprocessors, by tiles of 192 rows.
HopperSchedule sections_of(Shape const& shape, Mask const& mask, bool packed = false) {
  HopperCall call;
  call.shape = shape;
  call.mask = mask;
  HopperSchedule schedule;
  schedule.heads = static_cast<int>(packed ? shape.kv_heads : shape.heads);
  schedule.all_heads = static_cast<int>(shape.batch) * schedule.heads;
  schedule.query_tiles = packed ? 1 : static_cast<int>((shape.seq_q + 191) / 192);
  set_sections(call, packed, schedule);
  return schedule;
}

TEST(HopperSchedule, SectionsAreWhatTheCacheHolds) {
  // K and V of a head of 4k keys are 2.1 MB, of 16k 8.4.
  HopperSchedule const full = sections_of({4, 16, 16, 4096, 4096, 128, 128}, Mask::none());
  EXPECT_EQ(full.tail, 0);
  EXPECT_EQ(full.section, 4);  // 64 heads in 17 sections for 3.8 a section
  EXPECT_EQ(sections_of({1, 16, 16, 16384, 16384, 128, 128}, Mask::none()).section, 1);
  // Under a mask three items a multiprocessor come last: 396 of 22 or 86 tiles a head.
  HopperSchedule const causal = sections_of({4, 16, 16, 4096, 4096, 128, 128}, Mask::causal());
  EXPECT_EQ(causal.tail, 18);
  EXPECT_EQ(causal.section, 4);  // 46 in 13
  HopperSchedule const longer = sections_of({1, 16, 16, 16384, 16384, 128, 128}, Mask::causal());
  EXPECT_EQ(longer.tail, 5);
  EXPECT_EQ(longer.section, 2);  // of 17 MB
  // Eight query heads of a group share K and V.
  EXPECT_EQ(sections_of({2, 64, 8, 8192, 8192, 128, 128}, Mask::none()).section, 15);
  // No more heads than there are.
  HopperSchedule const few = sections_of({1, 2, 2, 512, 512, 128, 128}, Mask::causal());
  EXPECT_EQ(few.tail, 2);
  EXPECT_EQ(few.section, 1);
  EXPECT_EQ(sections_of({1, 2, 2, 0, 0, 128, 128}, Mask::none()).section, 2);
}

TEST(HopperSchedule, PackedRowsUnderAMaskHaveOneSectionWhereTheyAreLong) {
  Shape const long_rows = {64, 64, 8, 1, 32768, 128, 128};
  EXPECT_EQ(sections_of(long_rows, Mask::causal(), true).tail, 512);
  EXPECT_EQ(sections_of(long_rows, Mask::none(), true).tail, 0);
  // 8 MB up to 8k keys under a mask, 17 from 1k on without one: K and V of 4k keys, by 8, are 0.26 MB.
  Shape const rows = {100, 64, 8, 1, 4096, 128, 128};
  EXPECT_EQ(sections_of(rows, Mask::causal(), true).tail, 396);
  EXPECT_EQ(sections_of(rows, Mask::causal(), true).section, 29);  // 404 in 14
  EXPECT_EQ(sections_of(rows, Mask::none(), true).section, 62);    // 800 in 13
}

TEST(HopperTilings, AreThoseThatWereAhead) {
  // Keys of the chosen tile without a mask and under one, where more than one tile can serve the shape.
  auto const keys = [](std::int64_t n, std::int64_t dim, Mask const& mask) {
    HopperCall call;
    call.shape = {1, 8, 8, n, n, dim, dim};
    call.mask = mask;
    return hopper_tilings(call).front().tile.k;
  };
  for (auto const& [n, full, causal] :
       {std::tuple{512, 64, 64}, {1024, 80, 64}, {2048, 64, 64}, {4096, 64, 80}, {16384, 80, 80}}) {
    EXPECT_EQ(keys(n, 256, Mask::none()), full) << n;
    EXPECT_EQ(keys(n, 256, Mask::causal()), causal) << n;
  }
  for (auto const& [n, causal] : {std::pair{1024, 80}, {2048, 96}}) {
    EXPECT_EQ(keys(n, 192, Mask::none()), 80) << n;
    EXPECT_EQ(keys(n, 192, Mask::causal()), causal) << n;
  }
  for (auto const& [n, short_or_long] : {std::pair{4096, 64}, {8192, 80}}) {
    EXPECT_EQ(keys(n, 128, Mask::none()), short_or_long) << n;
    EXPECT_EQ(keys(n, 128, Mask::causal()), short_or_long) << n;
  }
}

TEST(HopperTilings, PackOneHeadsRowsInTwoWarpgroupsOnlyToSplitKeys) {
  // Query rows of the chosen tile, and query heads that share it.
  auto const tile = [](Shape const& shape, Mask const& mask) {
    HopperCall call;
    call.shape = shape;
    call.mask = mask;
    HopperTiling const first = hopper_tilings(call).front();
    return std::pair(first.tile.q, first.heads);
  };
  EXPECT_EQ(tile({16, 128, 128, 128, 128, 64, 64}, Mask::none()), std::pair(256, 1));
  EXPECT_EQ(tile({16, 128, 128, 65, 65, 128, 128}, Mask::causal()), std::pair(192, 1));
  EXPECT_EQ(tile({1, 1, 1, 128, 128, 128, 128}, Mask::none()), std::pair(192, 1));
  EXPECT_EQ(tile({16, 128, 128, 128, 128, 96, 96}, Mask::none()), std::pair(128, 1));
  EXPECT_EQ(tile({1, 2, 2, 128, 20000, 128, 128}, Mask::none()), std::pair(128, 1));
  EXPECT_EQ(tile({16, 128, 128, 64, 64, 128, 128}, Mask::none()), std::pair(64, 1));
  EXPECT_EQ(tile({16, 128, 16, 16, 512, 128, 128}, Mask::none()), std::pair(16, 8));
}

TEST(HopperRefusal, NamesTheArgument) {
  HopperCall call;
  call.shape = {1, 1, 1, 8, 8, 64, 64};
  call.q = call.k = call.v = call.o = {nullptr, 1024, 1024, 128};
  EXPECT_EQ(hopper_refusal(call), "");
  call.dtype = DType::fp32;
  EXPECT_EQ(hopper_refusal(call), "dtype: fp32 is not for hopper; allowed: fp16, bf16");
  call.dtype = DType::bf16;
  call.v.stride_n = 130;
  EXPECT_EQ(hopper_refusal(call),
            "v: its stride of 130 bytes is not a multiple of 16; the copy engine of hopper needs it");
  alignas(16) char memory[16];
  call.k.data = memory + 8;
  EXPECT_EQ(hopper_refusal(call),
            "k: its address is not a multiple of 16 bytes; the copy engine of hopper needs it");
  call.shape.head_dim = 264;
  EXPECT_EQ(hopper_refusal(call), "head_dim: 264 is too large for hopper; allowed: up to 256");
  call.shape.head_dim = 60;
  EXPECT_EQ(hopper_refusal(call), "head_dim: 60 is no multiple of 8, as hopper needs; allowed: steps of 8");
}

}  // namespace
}  // namespace flashpad::hopper
