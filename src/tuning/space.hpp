// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"
#include "measure/backend.hpp"
#include "model/on_chip.hpp"
#include "tuning/cache.hpp"

#include <string>
#include <vector>

namespace flashpad::tuning {

/// One point of a search space. An empty `pruned` is to be measured.
struct Candidate {
  Configuration configuration;
  bool table = false;  ///< what the library chooses without tuning
  std::string pruned;  ///< why it is not run
  model::TeamBytes bytes;
};

/// The default space of an engine, as data: the product of four lists.
TuneSpace default_space(Kernel kernel, std::string const& engine, bool on_gpu);

/// What the engine keeps where, and how much there is of it.
model::OnChip on_chip(std::string const& engine, measure::BackendInfo const& info, double last_level_cache);

/// The product of the lists, pruned without running or planning anything: by the on-chip budget, and where
/// the problem is so small that a smaller tile does the same. `table` is a candidate whether it is in the
/// lists or not.
std::vector<Candidate> candidates(Case const& problem, TuneSpace const& space, Configuration const& table,
                                  model::OnChip const& chip);

/// "256x128", and what is not left to the library of team and stages: "64x64 team 4 stages 2".
std::string label(Configuration const& configuration);

}  // namespace flashpad::tuning
