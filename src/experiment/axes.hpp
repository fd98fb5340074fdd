// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/diagnostics.hpp"
#include "experiment/document.hpp"
#include "experiment/experiment.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace flashpad::sweep {

/// Cases that one experiment may expand to.
inline constexpr std::size_t max_cases = 10000;

/// A case in the making: what one cell of the product has set so far.
struct Draft {
  Case result;
  std::optional<std::int64_t> kv_heads;   ///< unset: as heads
  std::optional<std::int64_t> value_dim;  ///< unset: as head_dim
  yaml::Location kv_heads_at;
};

/// One list of the experiment: each value, as what it does to a case. A single value is a list of one.
struct Axis {
  std::string path;
  yaml::Location at;
  std::vector<std::function<void(Draft&)>> values;
};

/// The axis that `node` writes: a value or a list of values, each read by `read(node, path)` and put into a
/// draft by `set(draft, value, place)`. Refuses an empty list and a repeated value.
template <class Read, class Set>
Axis make_axis(yaml::Node const& node, std::string const& path, Read read, Set set) {
  using T = decltype(read(node, path));
  Axis axis{path, node.at, {}};
  std::vector<T> seen;
  auto const append = [&](yaml::Node const& value, std::string const& value_path) {
    T const parsed = read(value, value_path);
    auto const same = std::find(seen.begin(), seen.end(), parsed);
    if (same != seen.end()) {
      std::string const first = yaml::element_path(path, static_cast<std::size_t>(same - seen.begin()));
      yaml::fail(value.at, value_path, "repeats " + first + "; allowed: each value once");
    }
    seen.push_back(parsed);
    axis.values.push_back([set, parsed, at = value.at](Draft& draft) { set(draft, parsed, at); });
  };
  if (!node.is_sequence()) {
    append(node, path);
    return axis;
  }
  if (node.values.empty()) yaml::fail(node.at, path, "found an empty list; allowed: one value or more");
  if (node.values.size() > max_cases) {
    yaml::fail(node.at, path,
               "found a list of " + std::to_string(node.values.size()) + " values; allowed: at most " +
                   std::to_string(max_cases));
  }
  for (std::size_t i = 0; i < node.values.size(); ++i) append(node.values[i], yaml::element_path(path, i));
  return axis;
}

/// The axes of `problem:` in the order written, with what its keys must be together. `start` receives what
/// tensor files fix: shape, type and paths; they are resolved against `folder`.
std::vector<Axis> problem_axes(yaml::Node const& problem, yaml::Location const& at,
                               std::filesystem::path const& folder, Draft& start);

/// Whether a key of the top level says how a problem is computed, and may hold a list.
bool is_method_key(std::string_view key);

/// The axes of such a key: one, or two for a tile written as lists of q and k.
std::vector<Axis> method_axes(std::string const& key, yaml::Node const& node);

}  // namespace flashpad::sweep
