// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/verify.hpp"

#include "measure/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace flashpad::measure {

namespace {

// Two NaN are equal, as are two infinities of one sign. A NaN on one side only is an infinite error.
double difference(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  double const error = std::fabs(got - want);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

std::string index_of(QueryRow const& row) { return fmt::format("{},{},{}", row.b, row.h, row.i); }

// The first NaN of O anywhere, as an index.
std::optional<std::string> find_nan(Case const& one, Outputs const& outputs) {
  Extents const e = extents_of_o(one.shape);
  std::int64_t const at = first_nan(outputs.o, e, one.dtype, one.layout);
  if (at == e.count()) return std::nullopt;
  return fmt::format("{},{},{},{}", at / (e.heads * e.rows * e.columns), at / (e.rows * e.columns) % e.heads,
                     at / e.columns % e.rows, at % e.columns);
}

struct Tally {
  double worst_error = 0;
  double error_squares = 0;
  double want_squares = 0;
  std::string worst;
  bool nan = false;
  bool infinite = false;
  bool all_wrong_in_tail = true;
  std::int64_t values = 0;
  std::int64_t nan_wanted = 0;
  std::int64_t infinite_wanted = 0;
};

void add(Tally& tally, double got, double want, std::string const& where) {
  double const error = difference(got, want);
  if (error > tally.worst_error || tally.worst.empty()) {
    tally.worst_error = std::max(tally.worst_error, error);
    tally.worst = where;
  }
  if (std::isnan(got) && !std::isnan(want)) tally.nan = true;
  if (std::isinf(got) && std::isfinite(want)) tally.infinite = true;
  ++tally.values;
  if (std::isnan(want)) ++tally.nan_wanted;
  if (std::isinf(want)) ++tally.infinite_wanted;
  if (std::isfinite(want)) {
    tally.error_squares += error * error;
    tally.want_squares += want * want;
  }
}

double relative(Tally const& tally) {
  if (tally.error_squares == 0) return 0;
  return std::sqrt(tally.error_squares / tally.want_squares);  // infinite where all is 0 but should not be
}

Tally compare_o(Case const& one, Expected const& expected, Outputs const& outputs, double bound,
                Tile const& tile) {
  std::int64_t const dv = one.shape.value_dim;
  auto const stride = strides(extents_of_o(one.shape), one.layout);
  bool const has_tail = tile.q > 0 && one.shape.seq_q % tile.q != 0 && one.shape.seq_q > tile.q;
  std::int64_t const tail_begin = has_tail ? one.shape.seq_q / tile.q * tile.q : one.shape.seq_q;
  Tally tally;
  for (std::size_t r = 0; r < expected.rows.size(); ++r) {
    QueryRow const& row = expected.rows[r];
    std::int64_t const at = row.b * stride[0] + row.h * stride[1] + row.i * stride[2];
    for (std::int64_t c = 0; c < dv; ++c) {
      double const got = load(outputs.o.data(), one.dtype, at + c);
      double const want = expected.o[r * static_cast<std::size_t>(dv) + static_cast<std::size_t>(c)];
      bool const wrong = difference(got, want) > bound;
      if (wrong && row.i < tail_begin) tally.all_wrong_in_tail = false;
      bool const worse = tally.worst.empty() || difference(got, want) > tally.worst_error;
      add(tally, got, want, worse ? fmt::format("{},{}", index_of(row), c) : std::string());
    }
  }
  return tally;
}

Tally compare_lse(Case const& one, Expected const& expected, Outputs const& outputs) {
  Tally tally;
  for (std::size_t r = 0; r < expected.rows.size(); ++r) {
    QueryRow const& row = expected.rows[r];
    std::int64_t const at = (row.b * one.shape.heads + row.h) * one.shape.seq_q + row.i;
    double const want = expected.lse[r];
    double const unit = std::isfinite(want) ? std::max(1.0, std::fabs(want)) : 1.0;
    double const got = outputs.lse[static_cast<std::size_t>(at)];
    add(tally, got / unit, want / unit, index_of(row));
    // A row that sees no key has this LSE by definition: that is a value like any other.
    if (want == -std::numeric_limits<double>::infinity()) --tally.infinite_wanted;
  }
  return tally;
}

// What of the reference is no number, if anything: NaN beside NaN says nothing of how a kernel rounds.
std::string not_finite(Tally const& tally, char const* tensor) {
  std::int64_t const count = tally.nan_wanted + tally.infinite_wanted;
  if (count == 0) return "";
  return fmt::format("{} of {} values of {} in the reference are not finite ({} NaN, {} infinite)", count,
                     tally.values, tensor, tally.nan_wanted, tally.infinite_wanted);
}

bool nothing_finite(Tally const& tally) {
  return tally.values > 0 && tally.nan_wanted + tally.infinite_wanted == tally.values;
}

// Products of float32 in tf32, 10 bits after the first: by this name alone, with tolerances of their own.
constexpr std::string_view reduced_engine = "mma-tf32";

// Scores are computed in float32, or in float64 for fp64.
double score_rounding(DType dtype, Expected const& expected) {
  double const unit = dtype == DType::fp64 ? 0x1p-53 : 0x1p-24;
  constexpr double terms = 4;  // the products of a score are added up in a type no wider
  return terms * unit * expected.score_max;
}

bool may_overflow(DType dtype, Expected const& expected) {
  double const largest =
      dtype == DType::fp64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return expected.value_max > largest / std::max(1.0, expected.sum_max) / 4;
}

std::string off_by(Tally const& o, double bound) {
  return fmt::format("O is off by {:.2e} at {} (bound {:.2e})", o.worst_error, o.worst, bound);
}

void fail(Verdict& verdict, report::Symptom symptom, std::string const& what) {
  verdict.symptom = symptom;
  verdict.reason = fmt::format("{}; likely cause: {}", what, report::likely_cause(symptom));
}

// What a wrong O looks like from outside.
void judge(Verdict& verdict, DType dtype, Expected const& expected, Tally const& o, double bound) {
  using report::Symptom;
  double const rounding = score_rounding(dtype, expected);
  if ((o.nan || o.infinite) && may_overflow(dtype, expected)) {
    return fail(verdict, Symptom::overflow,
                fmt::format("O is not finite at {} where the reference is, with values of up to {:.2e}",
                            o.worst, expected.value_max));
  }
  if (o.nan) {
    return fail(verdict, Symptom::nan, fmt::format("O is NaN at {} where the reference is not", o.worst));
  }
  if (o.worst_error <= rounding * std::max(1.0, expected.value_max)) {
    return fail(verdict, Symptom::scores_rounded,
                fmt::format("{}, and scores of up to {:.3g} round to about {:.1e} in {}", off_by(o, bound),
                            expected.score_max, rounding, dtype == DType::fp64 ? "float64" : "float32"));
  }
  fail(verdict, o.all_wrong_in_tail ? Symptom::wrong_at_tail : Symptom::finite_but_wrong, off_by(o, bound));
}

}  // namespace

double tolerance(Kernel kernel, DType dtype, Expected const& expected) {
  double const size = std::max(1.0, expected.value_max);
  if (dtype == DType::fp64) return 1e-12 * size;
  if (dtype == DType::fp32) return 2e-5 * size;
  bool const fp16 = dtype == DType::fp16;
  int const digits = fp16 ? 10 : 7;              // of the significand, after its first
  int const least_exponent = fp16 ? -14 : -126;  // numbers below, and 0, have the unit of this one
  int const exponent = expected.output_max > 0 ? std::ilogb(expected.output_max) : least_exponent;
  double const unit = std::ldexp(1.0, std::max(exponent, least_exponent) - digits);
  double const rounding =
      kernel == Kernel::naive_vendor ? expected.score_rounding_error : expected.rounding_error;
  return std::min(2 * rounding + unit, (fp16 ? 2e-2 : 5e-2) * size);
}

double lse_tolerance(Kernel kernel, DType dtype) {
  if (kernel == Kernel::naive_vendor && dtype == DType::bf16) return 0x1p-8;
  if (dtype == DType::fp64) return 1e-12;
  return dtype == DType::fp32 ? 1e-5 : 1e-3;
}

Verdict verify(Case const& one, Inputs const& inputs, Expected const& expected, Outputs const& outputs,
               Tile const& tile) {
  Verdict verdict;
  Tally const lse = compare_lse(one, expected, outputs);
  verdict.lse_max_err = lse.worst_error;
  if (!lse.worst.empty()) verdict.worst = lse.worst;

  if (one.kernel != Kernel::stats) {
    double const bound = one.engine == reduced_engine ? 5e-3 * std::max(1.0, expected.value_max)
                                                      : tolerance(one.kernel, one.dtype, expected);
    Tally const o = compare_o(one, expected, outputs, bound, tile);
    verdict.tolerance = bound;
    verdict.max_abs_err = o.worst_error;
    verdict.rel_err = relative(o);
    if (!o.worst.empty()) verdict.worst = o.worst;
    if (o.worst_error > bound) {
      judge(verdict, one.dtype, expected, o, bound);
      return verdict;
    }
    verdict.note = not_finite(o, "O");
    if (nothing_finite(o)) {
      verdict.max_abs_err = verdict.rel_err = verdict.tolerance = std::nullopt;  // of nothing
      verdict.worst = std::nullopt;
      fail(verdict, report::Symptom::nothing_finite, "nothing was verified");
      return verdict;
    }
    if (inputs.finite) {
      if (auto const nan = find_nan(one, outputs)) {
        verdict.worst = *nan;
        fail(verdict, report::Symptom::nan,
             fmt::format("O is NaN at {} although all inputs are finite", *nan));
        return verdict;
      }
    }
  }
  double const lse_bound = one.engine == reduced_engine ? 1e-3 : lse_tolerance(one.kernel, one.dtype);
  if (lse.worst_error > lse_bound) {
    verdict.worst = lse.worst;
    fail(verdict, lse.nan ? report::Symptom::nan : report::Symptom::lse_wrong,
         fmt::format("LSE is off by {:.2e} at {}, relative to max(1, |lse|) (bound {:.0e})", lse.worst_error,
                     lse.worst, lse_bound));
  } else if (one.kernel == Kernel::stats) {
    verdict.note = not_finite(lse, "LSE");
    if (nothing_finite(lse)) fail(verdict, report::Symptom::nothing_finite, "nothing was verified");
  }
  return verdict;
}

}  // namespace flashpad::measure
