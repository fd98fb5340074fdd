// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/experiment.hpp"

#include "experiment/axes.hpp"
#include "experiment/diagnostics.hpp"
#include "experiment/document.hpp"
#include "experiment/expand.hpp"
#include "experiment/overrides.hpp"
#include "experiment/settings.hpp"

#include <iterator>
#include <memory>

namespace flashpad {

namespace {

using yaml::Location;
using yaml::Node;

Experiment build(std::string const& text, std::filesystem::path const& file,
                 std::filesystem::path const& folder, std::vector<std::string> const& overrides) {
  std::string const label = file.string();
  auto const source = std::make_shared<std::string const>(yaml::printable(label, label.size()));
  Node root = yaml::parse_document(text, {source, 1, 1});
  if (root.kind == Node::Kind::nothing) {
    yaml::fail({source, 1, 1}, "",
               "found nothing; allowed: an experiment, a map with the key problem at least");
  }
  // An override makes a map of what it enters; the file itself has to be one.
  if (root.is_map()) yaml::apply_overrides(root, overrides);
  require_map(
      root, "",
      {"name", "problem", "kernels", "backend", "engine", "tile", "team", "stages", "splits", "probabilities",
       "skip_hidden_tiles", "memory_limit", "verify", "expected_speedup", "timing", "tune", "output"});

  Experiment experiment;
  experiment.file = file;
  experiment.name = file.stem().string();
  sweep::Draft start;
  start.result.backend = "auto";
  std::vector<sweep::Axis> axes;
  Location problem_at;
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    yaml::Key const& key = root.keys[i];
    std::vector<sweep::Axis> more;
    if (key.name == "problem") {
      problem_at = key.at;
      more = sweep::problem_axes(root.values[i], key.at, folder, start);
    } else if (sweep::is_method_key(key.name)) {
      more = sweep::method_axes(key.name, root.values[i]);
    }
    axes.insert(axes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (problem_at.source == nullptr)
    yaml::fail(root.at, "problem", "missing; allowed: an experiment with a problem");

  experiment.cases = sweep::expand(start, axes, problem_at);
  sweep::read_settings(root, experiment);
  sweep::read_tune(root, experiment);
  sweep::read_output(root, experiment);
  return experiment;
}

}  // namespace

std::string_view name(Layout layout) noexcept { return layout == Layout::bhnd ? "bhnd" : "bnhd"; }

std::string_view name(Distribution distribution) noexcept {
  switch (distribution) {
    case Distribution::normal: return "normal";
    case Distribution::uniform: return "uniform";
    case Distribution::unbalanced: return "unbalanced";
    case Distribution::constant: return "constant";
  }
  return "?";
}

std::string_view name(Cache cache) noexcept { return cache == Cache::cold ? "cold" : "warm"; }

Experiment read_experiment(std::filesystem::path const& file, std::vector<std::string> const& overrides) {
  return build(yaml::read_text(file.string()), file, file.parent_path(), overrides);
}

Experiment parse_experiment(std::string const& text, std::string const& label,
                            std::vector<std::string> const& overrides) {
  return build(text, label, {}, overrides);
}

}  // namespace flashpad
