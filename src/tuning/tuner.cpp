// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/tuner.hpp"

#include "experiment/case_name.hpp"
#include "kokkos_ext/tuning.hpp"
#include "tuning/store.hpp"

#include <flashpad/error.hpp>
#include <flashpad/tuning.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <flashpad_build_info.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <utility>

namespace flashpad::tuning {

namespace {

using Clock = std::chrono::steady_clock;

std::string own_version() { return std::string(build_info::version); }

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Case with(Case problem, Configuration const& c) {
  problem.tile = c.tile;
  problem.team = c.team;
  problem.stages = c.stages;
  problem.name = problem.problem_key + "_" + sweep::method_name(problem);
  return problem;
}

measure::RunSpec spec_of(Case const& one) {
  return {one.shape, one.dtype, one.layout, measure::options_of(one), 1};
}

Configuration chosen(Choice const& choice) { return {choice.tile, choice.team_size, choice.stages}; }

}  // namespace

/// What is known of a problem before anything is timed.
struct Tuner::Prepared {
  Case problem;
  TuneSpace space;
  std::vector<Candidate> candidates;
  Cost cost;
  std::string journal;  ///< what its journal is filed under
};

std::string_view name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::tuned: return "tuned";
    case Outcome::cached: return "cached";
    case Outcome::failed: return "failed";
  }
  return "?";
}

Trial const* Search::trial_of(Configuration const& configuration) const {
  for (Trial const& trial : result.trials) {
    if (trial.candidate.configuration == configuration) return &trial;
  }
  return nullptr;
}

Tuner::Tuner(TunerSettings settings, std::function<measure::Backend&(std::string const&)> find_backend)
    : m_settings(std::move(settings)),
      m_find_backend(find_backend),
      m_session(m_settings.measure, std::move(find_backend)),
      m_cache_before(tuning_cache_file()) {
  set_tuning_cache("");
}

Tuner::~Tuner() { set_tuning_cache(m_cache_before); }

Oracle Tuner::oracle_for(Case const& problem) {
  Oracle oracle;
  oracle.plan = [this, problem](Configuration const& c) {
    return m_find_backend(problem.backend).plan(spec_of(with(problem, c)));
  };
  oracle.measure = [this, problem](Configuration const& c, Cost& cost) {
    Row row = m_session.measure(with(problem, c));
    measure::Spent const& spent = m_session.spent();
    cost.warm_up += spent.first_call + spent.verifying;
    cost.search += spent.timing;
    return row;
  };
  oracle.progress =
      m_settings.progress ? m_settings.progress : [](std::size_t, std::size_t, std::string const&) {};
  return oracle;
}

/// The oracle, with a tuning tool of Kokkos' in it where one is loaded.
Oracle Tuner::oracle_for(Prepared const& prepared, std::string const& engine) {
  Oracle oracle = oracle_for(prepared.problem);
  if (!kokkos_ext::ToolSpace::available()) return oracle;
  std::vector<std::size_t> able;  // what is pruned is nothing to choose
  for (std::size_t i = 0; i < prepared.candidates.size(); ++i) {
    if (prepared.candidates[i].pruned.empty()) able.push_back(i);
  }
  auto const tool = std::make_shared<kokkos_ext::ToolSpace>(
      able.size(), fmt::format("{}_{}", flashpad::name(prepared.problem.kernel), engine),
      prepared.problem.problem_key);
  oracle.suggest = [tool, able](std::size_t ours) {
    auto const place = std::find(able.begin(), able.end(), ours) - able.begin();
    return able[tool->ask(static_cast<std::size_t>(place))];
  };
  oracle.told = [tool](double seconds) { tool->told(seconds); };
  return oracle;
}

Tuner::Prepared Tuner::prepare(Case const& asked, Search& search) {
  measure::Backend& place = m_find_backend(asked.backend);
  Choice const choice = place.plan(spec_of(asked));
  Prepared prepared;
  prepared.problem = asked;
  prepared.problem.kernel = choice.kernel;
  search.problem = prepared.problem;
  search.engine = choice.engine;
  search.key = choice.tuning_key;
  search.table = chosen(choice);

  measure::BackendInfo const info = place.info();
  TuneSpace& space = prepared.space;
  space = default_space(choice.kernel, choice.engine, !info.device.empty());
  for (auto const member : {&TuneSpace::q, &TuneSpace::k, &TuneSpace::team, &TuneSpace::stages}) {
    if (!(m_settings.space.*member).empty()) space.*member = m_settings.space.*member;
  }
  prepared.candidates = candidates(prepared.problem, space, search.table,
                                   on_chip(choice.engine, info, place.last_level_cache()));
  prune_refused(prepared.candidates, oracle_for(prepared.problem), prepared.cost);
  flashpad::Timing const& timing = m_settings.measure.timing;
  prepared.journal =
      fmt::format("{} {} warmup {} repetitions {} {}", search.key, prepared.problem.problem_key,
                  timing.warmup, timing.repetitions, flashpad::name(timing.cache));
  return prepared;
}

Search Tuner::tune(Case const& problem) {
  auto const start = Clock::now();
  Search search;
  search.problem = problem;
  search_and_store(problem, search);
  search.total_s = since(start);
  return search;
}

void Tuner::search_and_store(Case const& asked, Search& search) {
  Prepared prepared;
  try {
    prepared = prepare(asked, search);
  } catch (Error const& refused) {
    search.reason = refused.what();
    return;
  }
  Cache const cache = read_cache(m_settings.cache, own_version());
  search.refused = cache.refused;
  auto const known = cache.entries.find(search.key);
  if (m_settings.only_missing && known != cache.entries.end()) {
    search.outcome = Outcome::cached;
    search.winner = known->second.winner;
    search.reason = fmt::format("tuned on {}, {}", known->second.case_name, known->second.date);
    return;
  }

  Journal journal(m_settings.cache, prepared.journal);
  if (m_settings.fresh) journal.clear();
  search.refused.insert(search.refused.end(), journal.refused().begin(), journal.refused().end());
  search.resumed = journal.size();
  if (m_settings.share_out) {
    std::string const trouble = m_settings.share_out(prepared.problem);
    if (!trouble.empty()) search.refused.push_back(trouble);
    journal.read_again();
  }
  try {
    search.result = tuning::search(prepared.candidates, oracle_for(prepared, search.engine), journal);
  } catch (Error const& failed) {
    // What was measured is still told.
    for (Candidate const& candidate : prepared.candidates)
      search.result.trials.push_back(
          {candidate, journal.find(candidate.configuration).value_or(Timing{}), false, {}, false});
    search.reason = failed.what();
    journal.clear();  // a failure is not what to resume from
    return;
  }
  search.result.cost.instantiate += prepared.cost.instantiate;

  Trial const& winner = search.result.trials[search.result.winner];
  search.winner = winner.candidate.configuration;
  search.outcome = Outcome::tuned;
  Entry entry;
  entry.key = search.key;
  entry.winner = search.winner;
  entry.median_s = *winner.final_median_s;
  entry.max_abs_err = winner.timing.max_abs_err.value_or(0);
  entry.case_name = search.problem.problem_key;
  entry.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  try {
    store(m_settings.cache, own_version(), entry);
  } catch (Error const& error) {  // what was measured is still told, and kept in the journal
    search.outcome = Outcome::failed;
    search.reason = error.what();
    return;
  }
  journal.clear();
}

void Tuner::time_share(Case const& problem, Share const& share) {
  Search search;
  Prepared prepared = prepare(problem, search);
  Journal journal(m_settings.cache, prepared.journal);
  measure_share(prepared.candidates, oracle_for(prepared.problem), journal, share, prepared.cost);
}

Row Tuner::measure(Case const& one, bool use_cache) {
  if (use_cache) set_tuning_cache(m_settings.cache);
  Row row = m_session.measure(one);
  set_tuning_cache("");
  return row;
}

}  // namespace flashpad::tuning
