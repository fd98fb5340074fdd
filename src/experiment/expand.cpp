// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/expand.hpp"

#include "experiment/case_name.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <unordered_set>

namespace flashpad::sweep {

namespace {

void require_few(std::vector<Axis> const& axes, yaml::Location const& at) {
  std::size_t cases = 1;
  std::string factors;
  bool too_many = false;
  for (Axis const& axis : axes) {
    // The running product stays below max_cases squared.
    if (!too_many) too_many = (cases *= axis.values.size()) > max_cases;
    if (axis.values.size() > 1) {
      factors += fmt::format("{}{} {}", factors.empty() ? "" : " x ", axis.values.size(), axis.path);
    }
  }
  if (too_many)
    fail(at, "", fmt::format("found a sweep of {} cases; allowed: at most {}", factors, max_cases));
}

/// What the tensors take in bytes has to fit 64 bits; whether it fits the machine is seen at run time.
void require_addressable(Case const& c, yaml::Location const& at) {
  Shape const& s = c.shape;
  auto const check = [&](char const* tensor, std::initializer_list<std::int64_t> sizes) {
    std::int64_t bytes = sizeof(double);
    bool too_large = false;
    for (std::int64_t const size : sizes) {
      if (size == 0) return;
      too_large = too_large || __builtin_mul_overflow(bytes, size, &bytes);
    }
    if (!too_large) return;
    fail(at, "problem",
         fmt::format("found {} of {} elements in case {}; allowed: fewer than 2^63 bytes", tensor,
                     fmt::join(sizes, " x "), problem_name(c)));
  };
  check("q", {s.batch, s.heads, s.seq_q, s.head_dim});
  check("k", {s.batch, s.kv_heads, s.seq_k, s.head_dim});
  check("v", {s.batch, s.kv_heads, s.seq_k, s.value_dim});
  check("o", {s.batch, s.heads, s.seq_q, s.value_dim});
}

/// An option without a use is as if it had not been given: the case is measured once, not once a value.
void drop_unused_options(Case& c) {
  bool const tiled = !stores_scores(c.kernel) && c.kernel != Kernel::hopper;
  bool const has_tiles = !stores_scores(c.kernel);
  bool const stores_probabilities = c.kernel == Kernel::naive || c.kernel == Kernel::automatic;
  if (!has_tiles) {
    c.tile = {};
    c.team = 0;
    c.stages = 0;
  }
  if (!tiled) {
    c.splits = 0;
    c.engine.clear();
  }
  if (!tiled || c.mask.is_none()) c.skip_hidden_tiles = true;
  // In the other types, P has the type of the inputs anyway.
  if (!stores_probabilities || size_of(c.dtype) != 2) c.probabilities_in_input_type = false;
}

Case complete(Draft const& draft, yaml::Location const& at) {
  Case c = draft.result;
  c.shape.kv_heads = draft.kv_heads.value_or(c.shape.heads);
  c.shape.value_dim = draft.value_dim.value_or(c.shape.head_dim);
  require_addressable(c, at);
  try {
    validate(c.shape, c.mask);
  } catch (Error const& error) {
    // Sizes and what they multiply to were checked, so this is about heads and kv_heads together.
    fail(draft.kv_heads_at, "", fmt::format("problem.{}", error.what()));
  }
  drop_unused_options(c);
  c.problem_key = problem_name(c);
  c.name = c.problem_key + "_" + method_name(c);
  return c;
}

}  // namespace

std::vector<Case> expand(Draft const& start, std::vector<Axis> const& axes, yaml::Location const& at) {
  require_few(axes, at);
  std::vector<Case> cases;
  std::unordered_set<std::string> names;
  std::vector<std::size_t> index(axes.size(), 0);
  for (bool done = false; !done;) {
    Draft draft = start;
    for (std::size_t a = 0; a < axes.size(); ++a) axes[a].values[index[a]](draft);
    Case c = complete(draft, at);
    if (names.insert(c.name).second) cases.push_back(std::move(c));

    std::size_t a = axes.size();
    while (a > 0 && ++index[a - 1] == axes[a - 1].values.size()) index[--a] = 0;
    done = a == 0;
  }
  return cases;
}

}  // namespace flashpad::sweep
