// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/axes.hpp"
#include "experiment/diagnostics.hpp"
#include "experiment/scalars.hpp"
#include "experiment/settings.hpp"

#include <algorithm>
#include <limits>

namespace flashpad::sweep {

namespace {

using yaml::Node;

constexpr std::size_t most_values = 64;  // of one list: the product is measured

/// `auto` (the engine's default), a count, or a list of counts.
std::vector<int> read_counts(Node const& node, std::string const& path, int most) {
  if (is_word(node, "auto")) return {};
  if (!node.is_sequence()) return {static_cast<int>(read_integer(node, path, 1, most))};
  if (node.values.empty() || node.values.size() > most_values)
    fail(node.at, path,
         "found a list of " + std::to_string(node.values.size()) + " values; allowed: 1 to " +
             std::to_string(most_values) + ", or auto");
  std::vector<int> counts;
  for (std::size_t i = 0; i < node.values.size(); ++i) {
    std::string const place = yaml::element_path(path, i);
    auto const count = static_cast<int>(read_integer(node.values[i], place, 1, most));
    if (std::find(counts.begin(), counts.end(), count) != counts.end())
      fail(node.values[i].at, place, "repeats " + std::to_string(count) + "; allowed: each value once");
    counts.push_back(count);
  }
  return counts;
}

TuneObserve read_observe(Node const& node, Experiment const& experiment) {
  require_map(node, "tune.observe", {"seq", "batch"});
  TuneObserve observe;
  for (auto const& [name, value] : {std::pair{"seq", &observe.seq}, std::pair{"batch", &observe.batch}}) {
    std::string const path = std::string("tune.observe.") + name;
    Node const* const given = node.find(name);
    if (given == nullptr) fail(node.at, path, "missing; allowed: a size, other than the problem's");
    *value = read_integer(*given, path, 1, std::numeric_limits<std::int32_t>::max());
  }
  if (experiment.cases.size() != 1)
    fail(node.at, "tune.observe",
         "is for one case, and there are " + std::to_string(experiment.cases.size()) +
             "; allowed: with values in place of lists");
  Case const& one = experiment.cases.front();
  if (one.tensors)
    fail(node.at, "tune.observe", "changes sizes, and problem.tensors fixes them; allowed: without");
  if (observe.seq == one.shape.seq_q || observe.seq == one.shape.seq_k)
    fail(node.at, "tune.observe.seq", "is the problem's own; allowed: another length");
  if (observe.batch == one.shape.batch)
    fail(node.at, "tune.observe.batch", "is the problem's own; allowed: another batch");
  return observe;
}

}  // namespace

void read_tune(Node const& root, Experiment& experiment) {
  Node const* const tune = root.find("tune");
  if (tune == nullptr) return;
  require_map(*tune, "tune", {"q", "k", "team", "stages", "observe"});
  TuneSpace& space = experiment.tune.space;
  if (Node const* q = tune->find("q")) space.q = read_counts(*q, "tune.q", max_tile);
  if (Node const* k = tune->find("k")) space.k = read_counts(*k, "tune.k", max_tile);
  if (Node const* team = tune->find("team")) space.team = read_counts(*team, "tune.team", max_team);
  if (Node const* stages = tune->find("stages"))
    space.stages = read_counts(*stages, "tune.stages", max_stages);
  std::size_t configurations = 1;  // of the given lists; an engine's own have up to five values
  for (auto const* list : {&space.q, &space.k, &space.team, &space.stages})
    configurations *= std::max<std::size_t>(1, list->size());
  if (configurations > max_cases)
    fail(tune->at, "tune",
         "found " + std::to_string(configurations) + " configurations; allowed: at most " +
             std::to_string(max_cases));
  if (Node const* observe = tune->find("observe"))
    experiment.tune.observe = read_observe(*observe, experiment);
}

}  // namespace flashpad::sweep
