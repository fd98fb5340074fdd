// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/error.hpp>

#include "kernels/engines/host_engines.hpp"
#include "kokkos_ext/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace flashpad::engines {
namespace {

template <class T>
class Aligned {
 public:
  explicit Aligned(std::size_t size)
      : m_data(static_cast<T*>(std::aligned_alloc(64, (size * sizeof(T) + 63) / 64 * 64)), std::free) {}
  T* get() { return m_data.get(); }
  T& operator[](std::size_t i) { return m_data.get()[i]; }

 private:
  std::unique_ptr<T, void (*)(void*)> m_data;
};

/// Units in the last place between what came out and the exact value.
template <class T>
double ulps(T got, long double want) {
  if (want == 0) return got == 0 ? 0 : INFINITY;
  int const exponent = std::ilogb(static_cast<double>(want));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits + 1));
}

/// The engines that multiply float32 as it is.
std::vector<std::string> whole_engines() {
  std::vector<std::string> names = host_engine_names(DType::fp32);
  std::erase(names, "amx-bf16x3");
  return names;
}

class HostTables : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Engines, HostTables, testing::ValuesIn(whole_engines()), [](auto const& parameter) {
  std::string name = parameter.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

/// Softmax of one column against a score of 0 shows the exponential: p = exp(s - 0).
template <class T>
void check_exponential(HostTable<T> const& table) {
  auto const lanes = static_cast<std::size_t>(table.lanes);
  T const smallest = std::log(std::numeric_limits<T>::min());
  Aligned<T> s(2 * lanes), max(lanes), sum(lanes), alpha(lanes), tile_max(lanes);
  std::mt19937_64 random(7);
  double worst = 0;
  for (int round = 0; round < 4000; ++round) {
    double const reach = round % 2 == 0 ? -1.0 : static_cast<double>(smallest);
    for (std::size_t r = 0; r < lanes; ++r) {
      s[r] = 0;
      s[lanes + r] = static_cast<T>(reach * std::uniform_real_distribution<double>()(random));
      max[r] = -std::numeric_limits<T>::infinity();
      sum[r] = 0;
      tile_max[r] = 0;
    }
    std::vector<T> const x(s.get() + lanes, s.get() + 2 * lanes);
    table.softmax(s.get(), 2, T{1}, tile_max.get(), max.get(), sum.get(), alpha.get());
    for (std::size_t r = 0; r < lanes; ++r) {
      ASSERT_EQ(s[r], 1);
      long double const want = std::exp(static_cast<long double>(x[r]));
      if (want < static_cast<long double>(std::numeric_limits<T>::min()) * 2)
        continue;  // about to be flushed to zero
      worst = std::max(worst, ulps(s[lanes + r], want) / (2 + 1.5 * std::fabs(static_cast<double>(x[r]))));
    }
  }
  EXPECT_LE(worst, 1) << "in units of the bound";
  EXPECT_GT(worst, 0.01) << "the bound is idle";
}

TEST_P(HostTables, ExponentialIsAccurate) {
  // Two units in the last place near 0; further out, x * log2(e) is rounded before its whole part is taken
  // off, which costs up to 1.5 |x| units more.
  check_exponential(host_table<float>(GetParam(), DType::fp32));
  check_exponential(host_table<double>(GetParam(), DType::fp64));
}

TEST_P(HostTables, ExponentialAtTheEdges) {
  auto const table = host_table<float>(GetParam(), DType::fp32);
  auto const lanes = static_cast<std::size_t>(table.lanes);
  Aligned<float> s(5 * lanes), max(lanes), sum(lanes), alpha(lanes), tile_max(lanes);
  float const scores[] = {0.0f, -INFINITY, -1e30f, -104.0f, -87.0f};
  for (std::size_t r = 0; r < lanes; ++r) {
    for (std::size_t j = 0; j < 5; ++j) s[j * lanes + r] = scores[j];
    max[r] = -INFINITY;
    sum[r] = 0;
    tile_max[r] = 0;
  }
  EXPECT_EQ(table.softmax(s.get(), 5, 1.0f, tile_max.get(), max.get(), sum.get(), alpha.get()),
            Rescale::reset);
  for (std::size_t r = 0; r < lanes; ++r) {
    EXPECT_EQ(s[lanes + r], 0);
    EXPECT_EQ(s[2 * lanes + r], 0);
    EXPECT_EQ(s[3 * lanes + r], 0) << "denormals are flushed";
    EXPECT_NEAR(s[4 * lanes + r], std::exp(-87.0f), 1e-42);
    EXPECT_EQ(max[r], 0);
    EXPECT_EQ(alpha[r], 0) << "nothing was accumulated before";
  }
  // The same scores again: nothing moves.
  for (std::size_t r = 0; r < lanes; ++r) s[r] = tile_max[r] = -3;
  EXPECT_EQ(table.softmax(s.get(), 1, 1.0f, tile_max.get(), max.get(), sum.get(), alpha.get()),
            Rescale::none);
  // One row's maximum moves: its part of what was accumulated shrinks, the others' stays.
  for (std::size_t r = 0; r < lanes; ++r) s[r] = tile_max[r] = r == 1 ? 2.0f : -3.0f;
  EXPECT_EQ(table.softmax(s.get(), 1, 1.0f, tile_max.get(), max.get(), sum.get(), alpha.get()),
            Rescale::scale);
  for (std::size_t r = 0; r < lanes; ++r) EXPECT_NEAR(alpha[r], r == 1 ? std::exp(-2.0f) : 1.0f, 1e-6);
}

TEST_P(HostTables, ARowThatHasSeenNoKeyStaysEmpty) {
  auto const table = host_table<float>(GetParam(), DType::fp32);
  auto const lanes = static_cast<std::size_t>(table.lanes);
  Aligned<float> s(2 * lanes), max(lanes), sum(lanes), alpha(lanes), tile_max(lanes);
  for (std::size_t r = 0; r < lanes; ++r) {
    s[r] = s[lanes + r] = max[r] = tile_max[r] = -INFINITY;
    sum[r] = 0;
  }
  EXPECT_EQ(table.softmax(s.get(), 2, 1.0f, tile_max.get(), max.get(), sum.get(), alpha.get()),
            Rescale::reset);
  for (std::size_t r = 0; r < lanes; ++r) {
    EXPECT_EQ(s[r], 0);
    EXPECT_EQ(sum[r], 0);
    EXPECT_EQ(max[r], -INFINITY);
    EXPECT_FALSE(std::isnan(alpha[r]));
  }
}

TEST_P(HostTables, ProductsAreThoseOfPlainLoops) {
  auto const table = host_table<float>(GetParam(), DType::fp32);
  int const lanes = table.lanes;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  auto const at = [](int i) { return static_cast<std::size_t>(i); };
  for (int const n : {1, 2, 7, 8, 9, 16, 33}) {
    for (int const dim : {16, 24, 64}) {
      for (int const pitch : {dim, dim + 3}) {
        // No room after the last key's row: what is read there shows under an address sanitizer.
        Aligned<float> q(at(dim * lanes)), s(at(n * lanes)), tile_max(at(lanes)), alpha(at(lanes));
        std::vector<float> k(at((n - 1) * pitch + dim));
        Aligned<float> acc(at(dim * lanes)), before(at(dim * lanes));
        for (int i = 0; i < dim * lanes; ++i) q[at(i)] = normal(random);
        for (float& value : k) value = normal(random);
        for (int i = 0; i < dim * lanes; ++i) before[at(i)] = acc[at(i)] = normal(random);
        for (int r = 0; r < lanes; ++r) alpha[at(r)] = 0.25f * static_cast<float>(r % 4);
        std::int64_t const stride = pitch * static_cast<int>(sizeof(float));
        table.scores(q.get(), k.data(), stride, n, dim, s.get(), tile_max.get());
        for (int r = 0; r < lanes; ++r) {
          float most = -INFINITY;
          for (int j = 0; j < n; ++j) {
            double want = 0;
            for (int c = 0; c < dim; ++c)
              want += static_cast<double>(q[at(c * lanes + r)]) * k[at(j * pitch + c)];
            ASSERT_NEAR(s[at(j * lanes + r)], want, 2e-5 * dim);
            most = std::max(most, s[at(j * lanes + r)]);
          }
          ASSERT_EQ(tile_max[at(r)], most);
        }
        for (Rescale const rescale : {Rescale::none, Rescale::scale, Rescale::reset}) {
          for (int i = 0; i < dim * lanes; ++i) acc[at(i)] = rescale == Rescale::reset ? NAN : before[at(i)];
          table.accumulate(s.get(), k.data(), stride, n, dim, rescale, alpha.get(), acc.get());
          for (int c = 0; c < dim; ++c) {
            for (int r = 0; r < lanes; ++r) {
              float const factor = rescale == Rescale::none    ? 1.0f
                                   : rescale == Rescale::scale ? alpha[at(r)]
                                                               : 0.0f;
              double want = static_cast<double>(before[at(c * lanes + r)]) * factor;
              for (int j = 0; j < n; ++j)
                want += static_cast<double>(s[at(j * lanes + r)]) * k[at(j * pitch + c)];
              ASSERT_NEAR(acc[at(c * lanes + r)], want, 1e-4 * n);
            }
          }
        }
      }
    }
  }
}

TEST_P(HostTables, AMaskHidesWhatLiesOutsideTheBand) {
  auto const table = host_table<float>(GetParam(), DType::fp32);
  int const lanes = table.lanes;
  int const n = 11;
  for (int const low : {-100, -3, 0, 4, 100}) {
    for (int const high : {-100, -1, 0, 7, 100}) {
      Aligned<float> s(static_cast<std::size_t>(n * lanes)), tile_max(static_cast<std::size_t>(lanes));
      auto const score = [](int j, int r) { return static_cast<float>((7 * j + 3 * r) % 13) - 20.0f; };
      for (int j = 0; j < n; ++j) {
        for (int r = 0; r < lanes; ++r) s[static_cast<std::size_t>(j * lanes + r)] = score(j, r);
      }
      table.mask(s.get(), n, low, high, tile_max.get());
      for (int r = 0; r < lanes; ++r) {
        float most = -INFINITY;
        for (int j = 0; j < n; ++j) {
          float const want = j - r >= low && j - r <= high ? score(j, r) : -INFINITY;
          ASSERT_EQ(s[static_cast<std::size_t>(j * lanes + r)], want) << j << ' ' << r;
          most = std::max(most, want);
        }
        ASSERT_EQ(tile_max[static_cast<std::size_t>(r)], most);
      }
    }
  }
}

template <class T>
void check_moves(DType dtype, std::string const& engine) {
  auto const table = host_table<float>(engine, dtype);
  int const lanes = table.lanes;
  auto const at = [](int i) { return static_cast<std::size_t>(i); };
  std::mt19937 random(5);
  for (int const dim : {8, 16, 24, 40, 64}) {
    for (int const rows : {1, lanes - 1, lanes}) {
      int const pitch = dim + 5;
      std::vector<T> storage(at(rows * pitch));
      for (T& value : storage) value = from_float<T>(std::normal_distribution<float>()(random));
      std::int64_t const stride = pitch * static_cast<int>(sizeof(T));
      Aligned<float> q(at(dim * lanes)), sum(at(lanes));
      table.load_queries(storage.data(), stride, rows, dim, -1.0f, q.get());
      for (int c = 0; c < dim; ++c) {
        for (int r = 0; r < lanes; ++r) {
          ASSERT_EQ(q[at(c * lanes + r)], r < rows ? -to_float(storage[at(r * pitch + c)]) : 0.0f);
        }
      }
      for (int r = 0; r < lanes; ++r) sum[at(r)] = r % 5 == 4 ? 0.0f : 3.0f;
      std::vector<T> out(at(rows * pitch), from_float<T>(-7.0f));
      table.store_output(q.get(), sum.get(), rows, dim, out.data(), stride);
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < pitch; ++c) {
          float const want = c >= dim     ? -7.0f
                             : r % 5 == 4 ? 0.0f
                                          : to_float(from_float<T>(q[at(c * lanes + r)] / 3.0f));
          ASSERT_EQ(to_float(out[at(r * pitch + c)]), want) << r << ' ' << c;
        }
      }
    }
  }
}

TEST_P(HostTables, RowsAreTransposedConvertedAndBack) {
  check_moves<float>(DType::fp32, GetParam());
  check_moves<half>(DType::fp16, GetParam());
  check_moves<bfloat16>(DType::bf16, GetParam());
}

TEST_P(HostTables, RowSoftmaxSumsToOneAtAnyLengthAndAddress) {
  auto const table = host_table<float>(GetParam(), DType::fp32);
  for (std::size_t const n : {std::size_t{1}, std::size_t{2}, std::size_t{15}, std::size_t{16},
                              std::size_t{17}, std::size_t{100}}) {
    for (std::size_t const offset : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
      std::vector<float> s(n + offset + 1, -5.0f);
      for (std::size_t j = 0; j < n; ++j) s[offset + j] = static_cast<float>(j) * 0.25f;
      std::vector<float> const x(s);
      float max = 0, sum = 0;
      table.softmax_row(s.data() + offset, static_cast<std::int64_t>(n), &max, &sum);
      double want_sum = 0;
      for (std::size_t j = 0; j < n; ++j) want_sum += std::exp(static_cast<double>(x[offset + j]) - max);
      EXPECT_EQ(max, x[offset + n - 1]);
      EXPECT_NEAR(sum, want_sum, 1e-5 * want_sum);
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_NEAR(s[offset + j], std::exp(static_cast<double>(x[offset + j]) - max) / want_sum, 1e-6);
      }
      EXPECT_EQ(s[offset + n], -5.0f) << "past the end";
      if (offset > 0) {
        EXPECT_EQ(s[offset - 1], -5.0f) << "before the start";
      }
    }
  }
  float max = 0, sum = 1;
  table.softmax_row(nullptr, 0, &max, &sum);
  EXPECT_EQ(max, -INFINITY);
  EXPECT_EQ(sum, 0);
}

/// One block through the table of an engine that multiplies sums of bf16, beside float64: the largest error
/// of the scores for each element of a row, and of the outputs for each key.
template <class T>
void check_terms(DType dtype, double score_bound, double output_bound) {
  auto const table = host_table<float>("amx-bf16x3", dtype);
  int const lanes = table.lanes;
  auto const at = [](int i) { return static_cast<std::size_t>(i); };
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  for (int const n : {1, 2, 15, 16, 17, 33, 70}) {
    for (int const dim : {8, 16, 24, 40, 64}) {
      int const keys = (n + table.group - 1) / table.group * table.group;
      std::vector<T> q(at(lanes * dim)), k(at(n * dim)), v(at(n * dim));
      for (auto* of : {&q, &k, &v})
        for (T& value : *of) value = from_float<T>(normal(random));
      std::int64_t const stride = dim * static_cast<int>(sizeof(T));
      Aligned<char> own_q(at(lanes * dim * table.operand_bytes)), own_k(at(keys * dim * table.operand_bytes)),
          own_v(at(keys * dim * table.operand_bytes));
      Aligned<float> s(at(keys * lanes * table.score_bytes / 4)), acc(at(dim * lanes));
      Aligned<float> tile_max(at(lanes)), max(at(lanes)), sum(at(lanes)), alpha(at(lanes));
      table.load_queries(q.data(), stride, lanes, dim, -1.0f, own_q.get());
      table.load_keys(k.data(), stride, n, dim, own_k.get());
      table.load_values(v.data(), stride, n, dim, own_v.get());
      table.scores(own_q.get(), own_k.get(), dim * table.operand_bytes, n, dim, s.get(), tile_max.get());
      std::vector<double> score(at(n * lanes));  // as the softmax gets them
      for (int r = 0; r < lanes; ++r) {
        float most = -INFINITY;
        for (int j = 0; j < n; ++j) {
          double want = 0;
          for (int c = 0; c < dim; ++c)
            want -= static_cast<double>(to_float(q[at(r * dim + c)])) * to_float(k[at(j * dim + c)]);
          ASSERT_NEAR(s[at(j * lanes + r)], want, score_bound * dim) << n << ' ' << dim;
          score[at(j * lanes + r)] = s[at(j * lanes + r)];
          most = std::max(most, s[at(j * lanes + r)]);
        }
        ASSERT_EQ(tile_max[at(r)], most);
      }
      for (int r = 0; r < lanes; ++r) max[at(r)] = -INFINITY, sum[at(r)] = 0;
      ASSERT_EQ(table.softmax(s.get(), n, 1.0f, tile_max.get(), max.get(), sum.get(), alpha.get()),
                Rescale::reset);
      std::int64_t const group_bytes = static_cast<std::int64_t>(table.operand_bytes) * table.group * dim;
      for (Rescale const rescale : {Rescale::reset, Rescale::none, Rescale::scale}) {
        float const before = rescale == Rescale::reset ? NAN : 2.0f;
        for (int i = 0; i < dim * lanes; ++i) acc[at(i)] = before;
        for (int r = 0; r < lanes; ++r) alpha[at(r)] = 0.25f * static_cast<float>(r % 4);
        table.accumulate(s.get(), own_v.get(), group_bytes, n, dim, rescale, alpha.get(), acc.get());
        for (int r = 0; r < lanes; ++r) {
          double const factor = rescale == Rescale::scale ? alpha[at(r)] : 1;
          for (int c = 0; c < dim; ++c) {
            double want = rescale == Rescale::reset ? 0 : factor * before;
            for (int j = 0; j < n; ++j)
              want += std::exp(score[at(j * lanes + r)] - tile_max[at(r)]) * to_float(v[at(j * dim + c)]);
            ASSERT_NEAR(acc[at(c * lanes + r)], want, output_bound * n) << n << ' ' << dim;
          }
        }
      }
    }
  }
}

TEST(HostEngines, SumsOfBf16KeepFloat32AndFp16) {
  std::vector<std::string> const names = host_engine_names(DType::fp32);
  if (std::find(names.begin(), names.end(), "amx-bf16x3") == names.end())
    GTEST_SKIP() << "this processor has no AMX";
  // A term that is left out would show: the third of float32 is up to 2^-16 of an element, and so are the
  // scores' products of two second terms in fp16. There P has 16 bits.
  check_terms<float>(DType::fp32, 3e-7, 1e-6);
  check_terms<half>(DType::fp16, 3e-7, 1e-4);
}

TEST(HostEngines, UnknownNamesAreRefusedWithTheKnownOnes) {
  try {
    host_table<float>("avx1024", DType::fp32);
    FAIL() << "accepted";
  } catch (Error const& error) {
    std::string const message = error.what();
    EXPECT_NE(message.find("engine: `avx1024` is not available here in fp32; available: "), std::string::npos)
        << message;
  }
}

}  // namespace
}  // namespace flashpad::engines
