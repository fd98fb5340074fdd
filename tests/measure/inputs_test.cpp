// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/inputs.hpp"

#include <flashpad/error.hpp>

#include "measure/elements.hpp"
#include "tensor_file/npy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

namespace flashpad::measure {
namespace {

Case case_of(Distribution distribution, std::uint64_t seed = 1) {
  Case one;
  one.shape = {
      .batch = 2, .heads = 4, .kv_heads = 2, .seq_q = 300, .seq_k = 400, .head_dim = 32, .value_dim = 16};
  one.distribution = distribution;
  one.seed = seed;
  return one;
}

double mean(std::vector<double> const& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(std::vector<double> const& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0) /
                   static_cast<double>(values.size()));
}

TEST(Inputs, DependOnTheSeedAlone) {
  Inputs const first = make_inputs(case_of(Distribution::normal));
  Case other_layout = case_of(Distribution::normal);
  other_layout.layout = Layout::bnhd;
  EXPECT_EQ(first.q, make_inputs(case_of(Distribution::normal)).q);
  EXPECT_EQ(first.v, make_inputs(other_layout).v);
  EXPECT_NE(first.q, make_inputs(case_of(Distribution::normal, 2)).q);
  EXPECT_NE(std::vector(first.q.begin(), first.q.begin() + 100),
            std::vector(first.k.begin(), first.k.begin() + 100));
}

// Pinned: results of two releases, compilers or machines are comparable only while these stay.
TEST(Inputs, AreTheSameEverywhere) {
  EXPECT_DOUBLE_EQ(generated(Distribution::uniform, 1, Tensor::q, 0, 0), 0.25263964759857016);
  EXPECT_NEAR(generated(Distribution::normal, 1, Tensor::k, 5, 0), 0.76619223191520081, 1e-14);
}

TEST(Inputs, NormalHasMeanZeroAndDeviationOne) {
  Inputs const inputs = make_inputs(case_of(Distribution::normal));
  EXPECT_NEAR(mean(inputs.q), 0, 0.02);
  EXPECT_NEAR(deviation(inputs.q), 1, 0.02);
  EXPECT_GT(*std::max_element(inputs.q.begin(), inputs.q.end()), 3.5) << "it has tails";
  EXPECT_TRUE(inputs.finite);
}

TEST(Inputs, UniformFillsItsInterval) {
  Inputs const inputs = make_inputs(case_of(Distribution::uniform));
  auto const [low, high] = std::minmax_element(inputs.k.begin(), inputs.k.end());
  EXPECT_GE(*low, -1);
  EXPECT_LT(*low, -0.99);
  EXPECT_LE(*high, 1);
  EXPECT_GT(*high, 0.99);
  EXPECT_NEAR(deviation(inputs.k), std::sqrt(1.0 / 3), 0.01);
}

TEST(Inputs, UnbalancedMovesTheMaximumFromBlockToBlock) {
  Inputs const inputs = make_inputs(case_of(Distribution::unbalanced));
  double const expected[] = {0.25, 1, 4, 0.5, 8, 2};
  for (std::size_t block = 0; block < 6; ++block) {
    std::vector<double> const part(inputs.k.begin() + static_cast<std::ptrdiff_t>(block * 32 * 32),
                                   inputs.k.begin() + static_cast<std::ptrdiff_t>((block + 1) * 32 * 32));
    EXPECT_NEAR(deviation(part) / expected[block], 1, 0.15) << "block " << block;
  }
  EXPECT_NEAR(deviation(inputs.v), 1, 0.02);
}

TEST(Inputs, ConstantIsConstant) {
  Inputs const inputs = make_inputs(case_of(Distribution::constant));
  for (auto const* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    EXPECT_TRUE(std::all_of(tensor->begin(), tensor->end(), [](double x) { return x == 0.5; }));
  }
}

TEST(Inputs, HoldWhatTheTypeCanHold) {
  for (DType const dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    Case one = case_of(Distribution::normal);
    one.dtype = dtype;
    Inputs const inputs = make_inputs(one);
    EXPECT_TRUE(
        std::all_of(inputs.v.begin(), inputs.v.end(), [&](double x) { return x == rounded(x, dtype); }));
  }
}

class InputFiles : public ::testing::Test {
 protected:
  InputFiles()
      : m_folder(std::filesystem::temp_directory_path() / ("flashpad-inputs-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(m_folder);
    m_case.shape = {
        .batch = 1, .heads = 2, .kv_heads = 2, .seq_q = 3, .seq_k = 3, .head_dim = 16, .value_dim = 16};
    m_case.layout = Layout::bnhd;
    m_values.resize(96);
    std::iota(m_values.begin(), m_values.end(), 0.0);
    m_values[7] = 1 + 0x1p-9;  // fp16 holds it, bf16 does not
    write("t.npy", m_values);
    m_case.tensors = TensorFiles{m_folder / "t.npy", m_folder / "t.npy", m_folder / "t.npy"};
  }
  ~InputFiles() override { std::filesystem::remove_all(m_folder); }

  void write(std::string const& file, std::vector<double> const& values) {
    write_npy(m_folder / file, {1, 3, 2, 16}, DType::fp16,
              pack(values, {1, 2, 3, 16}, DType::fp16, Layout::bnhd));
  }

  std::filesystem::path m_folder;
  Case m_case;
  std::vector<double> m_values;
};

TEST_F(InputFiles, AreReadInTheirLayout) {
  m_case.dtype = DType::fp16;
  Inputs const inputs = make_inputs(m_case);
  EXPECT_EQ(inputs.q, m_values);
  EXPECT_TRUE(inputs.converted.empty());
}

TEST_F(InputFiles, AreConvertedAndItIsSaid) {
  m_case.dtype = DType::bf16;
  Inputs const inputs = make_inputs(m_case);
  EXPECT_EQ(inputs.k[7], 1.0);
  EXPECT_EQ(inputs.converted, "inputs converted from fp16 in the files to bf16");
}

TEST_F(InputFiles, ThatWouldBecomeInfiniteAreRefused) {
  std::vector<double> values = m_values;
  values[5] = 65519;  // rounds to fp16's largest
  values[7] = -std::numeric_limits<double>::infinity();
  write_npy(m_folder / "wide.npy", {1, 3, 2, 16}, DType::fp64,
            pack(values, {1, 2, 3, 16}, DType::fp64, Layout::bnhd));
  m_case.tensors->k = m_folder / "wide.npy";
  m_case.dtype = DType::fp16;
  require_range({m_case});
  EXPECT_EQ(make_inputs(m_case).k[5], 65504);

  values[37] = -65520;  // head 0, row 2, column 5
  values[40] = 1e6;
  write_npy(m_folder / "wide.npy", {1, 3, 2, 16}, DType::fp64,
            pack(values, {1, 2, 3, 16}, DType::fp64, Layout::bnhd));
  std::string const message =
      (m_folder / "wide.npy").string() +
      ": element (0, 2, 0, 5) is -65520, which becomes infinity in fp16; allowed: finite numbers up to "
      "65504, or another problem.dtype";
  for (auto const& refuses : {std::function<void()>([&] { require_range({m_case}); }),
                              std::function<void()>([&] { make_inputs(m_case); })}) {
    try {
      refuses();
      ADD_FAILURE() << "taken";
    } catch (Error const& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
  for (DType const dtype : {DType::fp64, DType::fp32, DType::bf16}) {
    m_case.dtype = dtype;
    require_range({m_case});
  }
}

TEST_F(InputFiles, AreSearchedToTheirEnd) {
  std::int64_t const rows = 70000;  // more than is read at once
  std::vector<double> values(static_cast<std::size_t>(rows) * 16, 1.0);
  values[values.size() - 2] = 1e300;
  write_npy(m_folder / "long.npy", {1, rows, 1, 16}, DType::fp64,
            pack(values, {1, 1, rows, 16}, DType::fp64, Layout::bnhd));
  m_case.tensors->q = m_folder / "long.npy";
  m_case.dtype = DType::fp32;
  try {
    require_range({m_case});
    ADD_FAILURE() << "taken";
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("element (0, 69999, 0, 14) is 1e+300"), std::string::npos)
        << error.what();
  }
}

TEST_F(InputFiles, WithNanAreNotFinite) {
  std::vector<double> values = m_values;
  values[50] = NAN;
  write("nan.npy", values);
  m_case.tensors->v = m_folder / "nan.npy";
  EXPECT_FALSE(make_inputs(m_case).finite);
}

TEST_F(InputFiles, ThatChangedSinceTheCheckAreRefused) {
  m_case.shape.seq_k = 4;
  EXPECT_THROW(make_inputs(m_case), Error);
}

}  // namespace
}  // namespace flashpad::measure
