// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tuning/tuner.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace flashpad::tuning {

/// What was seen once a problem was tuned: the module's timings, in its order.
struct Observed {
  double first_call_s = 0;  ///< with the search
  Cost cost;                ///< of that search
  Row steady;               ///< the tuned problem, its tile from the cache
  Search other_length;      ///< in the key: searched again
  Row other_batch;          ///< not in the key: the same entry
  Row left_out;             ///< the other length, with the tile of the first; nothing where its search failed
  Row own;                  ///< the other length, with its own; likewise
};

/// One search: candidates with times, what was pruned and why, the winner.
std::string text_of(Search const& search);
std::string text_of(Observed const& observed);

/// The document of docs/tuning.md.
std::string json_document(nlohmann::ordered_json const& context, std::vector<Search> const& searches,
                          std::optional<Observed> const& observed);

}  // namespace flashpad::tuning
