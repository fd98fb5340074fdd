// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "measure/session.hpp"
#include "tuning/search.hpp"

#include <functional>
#include <string>
#include <vector>

namespace flashpad::tuning {

enum class Outcome : std::uint8_t { tuned, cached, failed };

std::string_view name(Outcome outcome) noexcept;

/// What became of one problem.
struct Search {
  Case problem;  ///< its kernel and backend are those that ran, not `auto`
  std::string engine;
  std::string key;      ///< key_of()
  Configuration table;  ///< what the library chooses without tuning
  Configuration winner;
  Outcome outcome = Outcome::failed;
  std::string reason;  ///< why it failed; whose entry it uses
  Result result;
  std::size_t resumed = 0;  ///< timings taken from the journal
  double total_s = 0;
  std::vector<std::string> refused;  ///< of the cache and the journal, one line each

  [[nodiscard]] Trial const* trial_of(Configuration const& configuration) const;
};

struct TunerSettings {
  std::string cache;  ///< file that winners are stored in
  measure::Settings measure;
  TuneSpace space;
  bool only_missing = false;  ///< a key that the cache has is not searched again
  bool fresh = false;         ///< drops what an interrupted search left
  std::function<void(std::size_t, std::size_t, std::string const&)> progress;
  /// Lets other processes time candidates into the journal before the search begins, and says in one line
  /// what went wrong with them, for what they leave is timed here; may be empty.
  std::function<std::string(Case const& problem)> share_out;
};

/// Searches the best tile of problems, one after another. The tuning cache in use is off while it lives: a
/// search must not find its own results.
class Tuner {
 public:
  explicit Tuner(TunerSettings settings,
                 std::function<measure::Backend&(std::string const&)> find_backend = measure::backend);
  Tuner(Tuner const&) = delete;
  Tuner& operator=(Tuner const&) = delete;
  ~Tuner();

  /// Searches and stores the winner. An error of the search, or of storing, is its outcome.
  Search tune(Case const& problem);

  /// Only times one job's share of the candidates, into the journal.
  void time_share(Case const& problem, Share const& share);

  /// Measures a case as `run` would, with this cache in use, or with the tile given.
  Row measure(Case const& one, bool use_cache);

 private:
  struct Prepared;
  Prepared prepare(Case const& problem, Search& search);
  Oracle oracle_for(Case const& problem);
  Oracle oracle_for(Prepared const& prepared, std::string const& engine);
  void search_and_store(Case const& problem, Search& search);

  TunerSettings m_settings;
  std::function<measure::Backend&(std::string const&)> m_find_backend;
  measure::Session m_session;
  std::string m_cache_before;
};

}  // namespace flashpad::tuning
