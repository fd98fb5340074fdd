// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/search.hpp"

#include "measure/statistics.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace flashpad::tuning {

namespace {

constexpr std::size_t finalists_wanted = 3;

std::size_t count_left(std::vector<Candidate> const& candidates) {
  return static_cast<std::size_t>(std::count_if(candidates.begin(), candidates.end(),
                                                [](Candidate const& c) { return c.pruned.empty(); }));
}

/// The fastest trials, and the table's, by index.
std::vector<std::size_t> finalists(std::vector<Trial> const& trials) {
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (may_win(trials[i].timing)) able.push_back(i);
  }
  std::stable_sort(able.begin(), able.end(), [&](std::size_t a, std::size_t b) {
    return *trials[a].timing.median_s < *trials[b].timing.median_s;
  });
  std::vector<std::size_t> chosen;
  for (std::size_t const i : able) {
    if (chosen.size() < finalists_wanted || trials[i].candidate.table) chosen.push_back(i);
  }
  return chosen;
}

[[noreturn]] void all_failed(std::vector<Trial> const& trials) {
  std::size_t measured = 0;
  std::string first;
  for (Trial const& trial : trials) {
    if (!trial.candidate.pruned.empty()) continue;
    ++measured;
    if (first.empty()) {
      Timing const& t = trial.timing;
      std::string const why = t.status != Status::ok ? std::string(name(t.status)) + ": " + t.reason
                              : t.verified != true   ? std::string("it was not verified")
                                                     : std::string("it took no time");
      first = fmt::format("{}: {}", label(trial.candidate.configuration), why);
    }
  }
  if (measured == 0) throw Error(fmt::format("tune: all {} configurations were pruned", trials.size()));
  throw Error(fmt::format("tune: none of {} configurations may win; the first, {}", measured, first));
}

/// Measures the finalists in turn, and says which is fastest.
std::size_t final_rounds(std::vector<Trial>& trials, Oracle const& oracle, int rounds, std::size_t done,
                         Cost& cost) {
  std::vector<std::size_t> const chosen = finalists(trials);
  if (chosen.empty()) all_failed(trials);
  std::vector<std::vector<double>> seconds(trials.size());
  std::vector<bool> fell(trials.size(), false);
  std::size_t const total = done + chosen.size() * static_cast<std::size_t>(rounds);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t const i : chosen) {
      Configuration const& configuration = trials[i].candidate.configuration;
      oracle.progress(done++, total, "finals: " + label(configuration));
      Timing const timing = timing_of(oracle.measure(configuration, cost));
      if (may_win(timing)) {
        seconds[i].push_back(*timing.median_s);
      } else {  // once is enough: what is wrong at times is wrong
        fell[i] = true;
        trials[i].timing = timing;
      }
    }
  }
  std::size_t best = trials.size();
  for (std::size_t const i : chosen) {
    if (fell[i] || seconds[i].empty()) continue;
    trials[i].final_median_s = measure::summarise(seconds[i]).median;
    if (best == trials.size() || *trials[i].final_median_s < *trials[best].final_median_s) best = i;
  }
  if (best == trials.size()) all_failed(trials);
  return best;
}

/// Times a candidate into the journal, and before it what a tool would rather see where it has its turn.
void measure_next(std::vector<Candidate> const& candidates, std::size_t ours, bool tools_turn,
                  Oracle const& oracle, Journal& journal, Cost& cost) {
  auto const timed = [&](std::size_t i) {
    Timing timing = timing_of(oracle.measure(candidates[i].configuration, cost));
    if (!journal.find(candidates[i].configuration)) journal.add(candidates[i].configuration, timing);
    return timing;
  };
  if (tools_turn) {
    Timing const timing = timed(oracle.suggest(ours));
    oracle.told(may_win(timing) ? *timing.median_s : std::numeric_limits<double>::infinity());
  }
  // The tool may have looked elsewhere; nothing is left out for that.
  if (!journal.find(candidates[ours].configuration)) timed(ours);
}

}  // namespace

bool may_win(Timing const& timing) {
  return timing.status == Status::ok && timing.verified == true && timing.median_s &&
         std::isfinite(*timing.median_s) && *timing.median_s > 0;
}

void prune_refused(std::vector<Candidate>& candidates, Oracle const& oracle, Cost& cost) {
  for (Candidate& candidate : candidates) {
    if (!candidate.pruned.empty()) continue;
    auto const start = std::chrono::steady_clock::now();
    try {
      static_cast<void>(oracle.plan(candidate.configuration));
    } catch (std::exception const& refused) {
      std::string const why = refused.what();
      candidate.pruned = "the library refuses it: " + why.substr(0, why.find('\n'));
    }
    cost.instantiate += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
}

void measure_share(std::vector<Candidate> const& candidates, Oracle const& oracle, Journal& journal,
                   Share const& share, Cost& cost) {
  std::size_t const total = count_left(candidates);
  std::size_t done = 0;
  bool first = true;  // pays for the inputs and the reference: no tool should hold that against it
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].pruned.empty()) continue;
    Configuration const& configuration = candidates[i].configuration;
    bool const mine = done % share.count == share.index;
    if (mine && !journal.find(configuration)) {
      oracle.progress(done, total, label(configuration));
      measure_next(candidates, i, oracle.suggest && !first, oracle, journal, cost);
      first = false;
    }
    ++done;
  }
}

Result search(std::vector<Candidate> const& candidates, Oracle const& oracle, Journal& journal, int rounds) {
  Result result;
  std::vector<bool> known;
  for (Candidate const& candidate : candidates)
    known.push_back(journal.find(candidate.configuration).has_value());
  measure_share(candidates, oracle, journal, {}, result.cost);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Trial trial{candidates[i], {}, false, std::nullopt, false};
    if (trial.candidate.pruned.empty()) {
      trial.timing = journal.find(trial.candidate.configuration).value();
      trial.resumed = known[i];
    }
    result.trials.push_back(std::move(trial));
  }
  result.winner = final_rounds(result.trials, oracle, rounds, count_left(candidates), result.cost);
  result.trials[result.winner].winner = true;
  return result;
}

}  // namespace flashpad::tuning
