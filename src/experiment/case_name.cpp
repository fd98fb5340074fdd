// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/case_name.hpp"

#include <fmt/format.h>

namespace flashpad::sweep {

namespace {

std::string mask_name(Mask const& mask) {
  if (mask.is_none()) return "none";
  if (mask.is_causal()) return "causal";
  auto const limit = [](std::int64_t side) {
    return side < 0 ? std::string("all") : fmt::format("{}", side);
  };
  return fmt::format("window-{}-{}", limit(mask.left), limit(mask.right));
}

std::string count_name(int count) { return count == 0 ? "auto" : fmt::format("{}", count); }

}  // namespace

std::string problem_name(Case const& c) {
  Shape const& s = c.shape;
  std::string word = fmt::format("b{}_h{}", s.batch, s.heads);
  if (s.kv_heads != s.heads) word += fmt::format("kv{}", s.kv_heads);
  word += s.seq_q == s.seq_k ? fmt::format("_n{}", s.seq_q) : fmt::format("_n{}k{}", s.seq_q, s.seq_k);
  word += fmt::format("_d{}", s.head_dim);
  if (s.value_dim != s.head_dim) word += fmt::format("v{}", s.value_dim);
  word += fmt::format("_{}_{}", flashpad::name(c.dtype), mask_name(c.mask));
  if (c.scale) word += fmt::format("_scale{}", *c.scale);
  if (c.layout != Layout::bhnd) word += fmt::format("_{}", flashpad::name(c.layout));
  if (c.distribution != Distribution::normal) word += fmt::format("_{}", flashpad::name(c.distribution));
  if (c.seed != 1) word += fmt::format("_seed{}", c.seed);
  return word;
}

std::string method_name(Case const& c) {
  std::string word(flashpad::name(c.kernel));
  if (c.tile != Tile{}) word += fmt::format("_t{}x{}", count_name(c.tile.q), count_name(c.tile.k));
  if (c.team != 0) word += fmt::format("_team{}", c.team);
  if (c.stages != 0) word += fmt::format("_stages{}", c.stages);
  if (c.splits != 0) word += fmt::format("_split{}", c.splits);
  if (c.probabilities_in_input_type) word += "_p-input";
  if (!c.skip_hidden_tiles) word += "_noskip";
  if (!c.engine.empty()) word += fmt::format("_engine-{}", c.engine);
  if (c.backend != "auto") word += fmt::format("_{}", c.backend);
  return word;
}

}  // namespace flashpad::sweep
