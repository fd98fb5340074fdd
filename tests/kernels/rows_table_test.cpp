// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/engines/rows_engines.hpp"
#include "kokkos_ext/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

// The micro-kernels for few query rows, one block and one tile at a time, against sums in float64. K and V
// end at the last byte of what was allocated: reading past a row shows under a sanitizer.

namespace flashpad::engines {
namespace {

template <class T>
using Aligned = std::unique_ptr<T[], void (*)(void*)>;

template <class T>
Aligned<T> aligned(std::size_t count) {
  auto* data = static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64));
  std::fill(data, data + count, std::numeric_limits<T>::quiet_NaN());
  return {data, std::free};
}

struct Block {
  int rows, keys, head_dim, value_dim;
};

/// Two tiles in a row through scores, softmax, accumulate and store, as the kernel does.
template <class Storage, class T>
double worst_error(RowsTable<T> const& table, int size, Block const& b, double spread) {
  std::mt19937_64 random(static_cast<std::uint64_t>(b.rows * 1000 + b.keys));
  std::normal_distribution<double> normal(0, spread);
  auto const numbers = [&](int count) {
    std::vector<Storage> values(static_cast<std::size_t>(count));
    for (Storage& value : values) value = from_float<Storage>(static_cast<T>(normal(random)));
    return values;
  };
  auto const at = [](std::vector<Storage> const& values, int i) {
    return static_cast<double>(to_float(values[static_cast<std::size_t>(i)]));
  };
  auto const padded = [&](int dim) { return (dim + table.dim_unit - 1) / table.dim_unit * table.dim_unit; };
  auto const count = [](int value) { return static_cast<std::size_t>(value); };
  int const tiles = 2;
  std::vector<Storage> const q = numbers(b.rows * b.head_dim);
  std::vector<Storage> const k = numbers(tiles * b.keys * b.head_dim);
  std::vector<Storage> const v = numbers(tiles * b.keys * b.value_dim);
  T const scale = static_cast<T>(-0.3);

  auto const packed = aligned<T>(count(b.rows * padded(b.head_dim)));
  auto const acc = aligned<T>(count(b.rows * padded(b.value_dim)));
  auto const s = aligned<T>(count((b.keys + table.key_unit) * b.rows));
  std::vector<T> max(count(b.rows), -std::numeric_limits<T>::infinity()), sum(count(b.rows)),
      alpha(count(b.rows));
  std::fill(acc.get(), acc.get() + b.rows * padded(b.value_dim), T{0});
  for (int r = 0; r < b.rows; ++r)
    table.load_query[size](q.data() + r * b.head_dim, b.head_dim, r, packed.get());
  for (int tile = 0; tile < tiles; ++tile) {
    std::int64_t const stride_k = b.head_dim * static_cast<std::int64_t>(sizeof(Storage));
    std::int64_t const stride_v = b.value_dim * static_cast<std::int64_t>(sizeof(Storage));
    table.scores[size](packed.get(), k.data() + tile * b.keys * b.head_dim, stride_k, b.keys, b.head_dim,
                       scale, s.get(), {});
    bool const moved = table.softmax[size](s.get(), b.keys, max.data(), sum.data(), alpha.data());
    EXPECT_TRUE(moved || tile > 0);
    table.accumulate[size](s.get(), v.data() + tile * b.keys * b.value_dim, stride_v, b.keys, b.value_dim,
                           moved ? alpha.data() : nullptr, acc.get(), {});
  }

  double worst = 0;
  for (int r = 0; r < b.rows; ++r) {
    std::vector<double> score(count(tiles * b.keys));
    double largest = -std::numeric_limits<double>::infinity();
    for (int j = 0; j < tiles * b.keys; ++j) {
      double dot = 0;
      for (int c = 0; c < b.head_dim; ++c) dot += at(q, r * b.head_dim + c) * at(k, j * b.head_dim + c);
      score[count(j)] = static_cast<double>(scale) * dot;
      largest = std::max(largest, score[count(j)]);
    }
    double total = 0;
    for (double& p : score) total += p = std::exp(p - largest);
    EXPECT_NEAR(max[count(r)], largest, 1e-5 * std::max(1.0, std::fabs(largest)));
    EXPECT_NEAR(sum[count(r)], total, 1e-4 * total);
    std::vector<T> o(count(b.value_dim));
    table.store_partial(acc.get() + r * padded(b.value_dim), sum[count(r)], b.value_dim, o.data());
    std::vector<Storage> stored(count(b.value_dim));
    table.store_output(acc.get() + r * padded(b.value_dim), sum[count(r)], b.value_dim, stored.data());
    for (int c = 0; c < b.value_dim; ++c) {
      double want = 0;
      for (int j = 0; j < tiles * b.keys; ++j) want += score[count(j)] / total * at(v, j * b.value_dim + c);
      worst = std::max(worst, std::fabs(static_cast<double>(o[count(c)]) - want));
      EXPECT_EQ(static_cast<T>(to_float(stored[count(c)])),
                static_cast<T>(to_float(from_float<Storage>(o[count(c)]))));
    }
  }
  return worst;
}

class RowsTables : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Engines, RowsTables, testing::ValuesIn(rows_engine_names(DType::bf16)),
                         [](auto const& parameter) {
                           std::string name = parameter.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

template <class Storage, class T>
void check(std::string const& engine, DType dtype, double tolerance) {
  std::vector<std::string> const names = rows_engine_names(dtype);
  if (std::find(names.begin(), names.end(), engine) == names.end()) return;
  RowsTable<T> const table = rows_table<T>(engine, dtype);
  for (int size = 0; 1 << size <= table.most_rows; ++size) {
    for (int const keys : {1, 2, 3, 7, 15, 16, 17, 63, 64}) {
      for (auto const& [head_dim, value_dim] :
           {std::pair{16, 24}, {24, 16}, {40, 72}, {64, 64}, {136, 256}}) {
        double const worst =
            worst_error<Storage, T>(table, size, {1 << size, keys, head_dim, value_dim}, 0.7);
        ASSERT_LT(worst, tolerance) << table.engine << ", " << name(dtype) << ", " << (1 << size) << " rows, "
                                    << keys << " keys, dim " << head_dim << "/" << value_dim;
      }
    }
  }
}

TEST_P(RowsTables, MultiplyBlocksAndTilesOfEverySize) {
  check<double, double>(GetParam(), DType::fp64, 1e-13);
  check<float, float>(GetParam(), DType::fp32, 1e-5);
  check<half, float>(GetParam(), DType::fp16, 1e-5);
  // P is rounded to bfloat16 where its own instruction multiplies: 2^-9 of a mean of values of up to three.
  bool const pairs =
      std::string(rows_table<float>(GetParam(), DType::bf16).engine).find("bf16") != std::string::npos;
  check<bfloat16, float>(GetParam(), DType::bf16, pairs ? 6e-3 : 1e-5);
}

TEST_P(RowsTables, AKeyThatDoesNotExistIsNotMultiplied) {
  // An infinite last value under an odd count of keys: 0 times infinity would be NaN.
  RowsTable<float> const table = rows_table<float>(GetParam(), DType::bf16);
  auto const p = aligned<float>(static_cast<std::size_t>(3 + table.key_unit));
  auto const acc = aligned<float>(static_cast<std::size_t>(table.dim_unit + 16));
  std::fill(acc.get(), acc.get() + table.dim_unit, 0.0f);
  std::fill(p.get(), p.get() + 3 + table.key_unit, 0.0f);
  for (int j = 0; j < 3; ++j) p[static_cast<std::size_t>(j)] = 1;
  std::vector<bfloat16> v(3 * 16, from_float<bfloat16>(1.0f));
  v[2 * 16] = from_float<bfloat16>(INFINITY);
  table.accumulate[0](p.get(), v.data(), 32, 3, 16, nullptr, acc.get(), {});
  std::vector<float> o(16);
  table.store_partial(acc.get(), 1, 16, o.data());
  EXPECT_EQ(o[0], INFINITY);
  EXPECT_EQ(o[1], 3);
}

TEST(RowsEngines, TheBestForSoManyRowsTakesThem) {
  for (DType const dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    RowsTable<float> const best = rows_table<float>("rows", dtype);
    for (std::int64_t const rows : {1, 2, 8}) {
      RowsTable<float> const table = rows_table<float>("rows", dtype, rows);
      EXPECT_LE(table.least_rows, rows);
      EXPECT_EQ(table.engine == std::string(best.engine), rows >= best.least_rows);
      // By its own name an engine takes any number.
      EXPECT_STREQ(rows_table<float>(best.engine, dtype, rows).engine, best.engine);
    }
  }
}

TEST(RowsEngines, RefuseATypeByName) {
  try {
    static_cast<void>(rows_table<float>("rows-avx512-bf16", DType::fp32));
    FAIL();
  } catch (std::exception const& error) {
    EXPECT_NE(std::string(error.what()).find("`rows-avx512-bf16` is not available here in fp32"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace flashpad::engines
