// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"
#include "tuning/journal.hpp"
#include "tuning/space.hpp"

#include <functional>
#include <string>
#include <vector>

namespace flashpad::tuning {

/// A candidate, and what came of it.
struct Trial {
  Candidate candidate;
  Timing timing;
  bool resumed = false;                  ///< timed by an earlier run that was interrupted, or by another job
  std::optional<double> final_median_s;  ///< of the finalists' round
  bool winner = false;
};

/// Where a search spent its time, in seconds.
struct Cost {
  double instantiate = 0;  ///< making the plans
  double warm_up = 0;      ///< first calls, and verifying them
  double search = 0;       ///< timing
};

struct Result {
  std::vector<Trial> trials;
  Cost cost;
  std::size_t winner = 0;  ///< index into trials
};

/// What a search asks for; a test brings its own.
struct Oracle {
  /// What the library plans for a configuration; throws Error where it refuses it.
  std::function<Choice(Configuration const&)> plan;
  /// Verifies and times it, and says where the time went.
  std::function<Row(Configuration const&, Cost&)> measure;
  /// Before each measurement: how many are done, how many there are, what comes next.
  std::function<void(std::size_t, std::size_t, std::string const&)> progress;
  /// Which candidate to try in the place of one, by their places in the list: a tool's turn; told() follows
  /// with the seconds that it took. May be empty.
  std::function<std::size_t(std::size_t)> suggest;
  std::function<void(double)> told;
};

/// Whether a timing may win: it ran, was verified, and took more than no time.
bool may_win(Timing const& timing);

/// Asks the library for each candidate's plan; what it refuses is pruned, with its words.
void prune_refused(std::vector<Candidate>& candidates, Oracle const& oracle, Cost& cost);

/// Which of the candidates one of several jobs measures: every `count`th.
struct Share {
  std::size_t index = 0, count = 1;
};

/// Times the candidates of a share that are neither pruned nor in the journal, into the journal.
void measure_share(std::vector<Candidate> const& candidates, Oracle const& oracle, Journal& journal,
                   Share const& share, Cost& cost);

/// Times every candidate that is not pruned (or takes its time from the journal), then the fastest and the
/// table's once more in turn, for `rounds` rounds: the winner is the least median of these. Throws Error
/// where no candidate may win.
Result search(std::vector<Candidate> const& candidates, Oracle const& oracle, Journal& journal,
              int rounds = 3);

}  // namespace flashpad::tuning
