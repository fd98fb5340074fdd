// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/search.hpp"
#include "support.hpp"

#include <flashpad/error.hpp>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <map>

namespace flashpad::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A row as a well measured configuration has it.
flashpad::Row good_row(double seconds) {
  flashpad::Row row;
  row.status = Status::ok;
  row.verified = true;
  row.median_s = seconds;
  row.repetitions = 10;
  return row;
}

/// Three candidates of 64, 128 and 256 query rows, the last the table's, that take 3, 2 and 4 ms.
class TuningSearch : public WithCache {
 protected:
  TuningSearch() {
    for (int const q : {64, 128, 256}) m_candidates.push_back({{{q, 64}, 1, 1}, q == 256, "", {}});
    m_oracle.plan = [](Configuration const&) { return Choice{}; };
    m_oracle.measure = [this](Configuration const& c, Cost&) {
      ++m_calls[c.tile.q];
      return m_spoil(c.tile.q, good_row(m_seconds.at(c.tile.q)));
    };
    m_oracle.progress = [](std::size_t, std::size_t, std::string const&) {};
  }

  int winner() {
    Journal journal(m_cache, "a search");
    Result const result = search(m_candidates, m_oracle, journal);
    EXPECT_TRUE(result.trials[result.winner].winner);
    return result.trials[result.winner].candidate.configuration.tile.q;
  }
  std::string error() {
    try {
      return std::to_string(winner()) + " won";
    } catch (Error const& failed) {
      return failed.what();
    }
  }

  std::vector<Candidate> m_candidates;
  std::map<int, double> m_seconds = {{64, 3e-3}, {128, 2e-3}, {256, 4e-3}};
  std::map<int, int> m_calls;
  std::function<flashpad::Row(int, flashpad::Row)> m_spoil = [](int, flashpad::Row row) { return row; };
  Oracle m_oracle;
};

TEST_F(TuningSearch, TheFastestWins) { EXPECT_EQ(winner(), 128); }

TEST_F(TuningSearch, WhatFailedNeverWinsHoweverFast) {
  m_seconds[128] = 1e-9;
  m_spoil = [](int q, flashpad::Row row) {
    if (q == 128) row.status = Status::failed;
    return row;
  };
  EXPECT_EQ(winner(), 64);
}

TEST_F(TuningSearch, WhatWasNotVerifiedNeverWins) {
  for (std::optional<bool> const verified : {std::optional<bool>(false), std::optional<bool>()}) {
    m_spoil = [=](int q, flashpad::Row row) {
      if (q == 128) row.verified = verified;
      return row;
    };
    EXPECT_EQ(winner(), 64);
    std::filesystem::remove_all(m_folder);
    std::filesystem::create_directory(m_folder);
  }
}

TEST_F(TuningSearch, NoTimeIsNoTime) {
  for (double const seconds : {0.0, -1.0, std::nan("")}) {
    m_seconds[128] = seconds;
    EXPECT_EQ(winner(), 64) << seconds;
    std::filesystem::remove_all(m_folder);
    std::filesystem::create_directory(m_folder);
  }
}

TEST_F(TuningSearch, WhatFailsInTheFinalsFallsOut) {
  m_spoil = [this](int q, flashpad::Row row) {
    if (q == 128 && m_calls[q] == 3) row.verified = false;
    return row;
  };
  EXPECT_EQ(winner(), 64);
}

TEST_F(TuningSearch, TheFinalsDecideAndNotALuckyFirstTiming) {
  m_spoil = [this](int q, flashpad::Row row) {
    if (q == 64 && m_calls[q] == 1) row.median_s = 1e-4;
    return row;
  };
  EXPECT_EQ(winner(), 128);
}

TEST_F(TuningSearch, AllFailedIsAnErrorThatSaysWhy) {
  m_spoil = [](int, flashpad::Row row) {
    row.status = Status::failed;
    row.reason = "wrong at the tail";
    return row;
  };
  EXPECT_EQ(error(), "tune: none of 3 configurations may win; the first, 64x64: failed: wrong at the tail");
  for (Candidate& candidate : m_candidates) candidate.pruned = "too large";
  EXPECT_EQ(error(), "tune: all 3 configurations were pruned");
}

TEST_F(TuningSearch, WhatIsPrunedIsNotMeasured) {
  m_candidates[1].pruned = "scratch";
  EXPECT_EQ(winner(), 64);
  EXPECT_EQ(m_calls.count(128), 0u);
}

TEST_F(TuningSearch, TheLibrarysRefusalPrunesWithItsWords) {
  m_oracle.plan = [](Configuration const& c) {
    if (c.tile.q == 128) throw Error("tile.q: 128 is too large\nmore");
    return Choice{};
  };
  Cost cost;
  prune_refused(m_candidates, m_oracle, cost);
  EXPECT_EQ(m_candidates[1].pruned, "the library refuses it: tile.q: 128 is too large");
  EXPECT_THAT(m_candidates[0].pruned, IsEmpty());
}

TEST_F(TuningSearch, AnInterruptedSearchResumes) {
  struct Stop {};
  m_spoil = [](int q, flashpad::Row row) {
    if (q == 256) throw Stop{};
    return row;
  };
  EXPECT_THROW(winner(), Stop);
  EXPECT_EQ(m_calls[64], 1);
  m_spoil = [](int, flashpad::Row row) { return row; };
  EXPECT_EQ(winner(), 128);
  EXPECT_EQ(m_calls[64], 1 + 3) << "timed before; now in the finals only";
  EXPECT_EQ(m_calls[256], 1 + 1 + 3);
}

TEST_F(TuningSearch, AJournalTakesNoLineOfAnotherSearchAndNoneCutOff) {
  {
    Journal journal(m_cache, "a search");
    journal.add({{64, 64}, 1, 1}, timing_of(good_row(1)));
  }
  std::filesystem::path file;
  for (auto const& entry : std::filesystem::directory_iterator(m_folder)) file = entry.path();
  {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    std::string line = text.str();
    std::string other = line;
    other.replace(other.find("a search"), 8, "another!");
    std::ofstream(file) << line << other << line.substr(0, line.size() / 2);
  }
  Journal journal(m_cache, "a search");
  EXPECT_EQ(journal.size(), 1u);
  ASSERT_EQ(journal.refused().size(), 2u);
  EXPECT_THAT(journal.refused()[0], HasSubstr("another search"));
  EXPECT_THAT(journal.refused()[1], HasSubstr("cut off"));
  journal.add({{128, 64}, 1, 1}, timing_of(good_row(2)));  // after the line that was cut off
  Journal const again(m_cache, "a search");
  EXPECT_EQ(again.size(), 2u);
  EXPECT_EQ(again.find({{128, 64}, 1, 1}).value().median_s, 2);
}

TEST_F(TuningSearch, AKilledProcessLeavesAJournalToGoOnFrom) {
  for (int round = 0; round < 30; ++round) {
    pid_t const child = fork();
    if (child == 0) {
      Journal journal(m_cache, "a search");
      for (int q = 1;; ++q) journal.add({{q, 64}, 1, 1}, timing_of(good_row(q)));
    }
    usleep(static_cast<useconds_t>(500 + 91 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended by itself";
    Journal journal(m_cache, "a search");
    ASSERT_LE(journal.refused().size(), 1u) << "only the line that it was writing";
    for (int q = 1; q <= static_cast<int>(journal.size()); ++q)
      ASSERT_EQ(journal.find({{q, 64}, 1, 1}).value().median_s, q) << "none is lost before one that is kept";
    journal.add({{7, 7}, 1, 1}, timing_of(good_row(1)));
    ASSERT_TRUE(Journal(m_cache, "a search").find({{7, 7}, 1, 1}).has_value());
    journal.clear();
  }
}

TEST_F(TuningSearch, ACompletedSearchLeavesNoJournal) {
  {
    Journal journal(m_cache, "a search");
    search(m_candidates, m_oracle, journal);
    journal.clear();
  }
  EXPECT_TRUE(std::filesystem::is_empty(m_folder));
}

TEST_F(TuningSearch, AToolMayChooseWhatIsTriedAndLeavesNothingOut) {
  std::vector<int> order;
  std::vector<std::size_t> offered;
  std::vector<double> told;
  m_spoil = [&](int q, flashpad::Row row) {
    order.push_back(q);
    return row;
  };
  m_oracle.suggest = [&](std::size_t ours) {  // the last one, always
    offered.push_back(ours);
    return std::size_t{2};
  };
  m_oracle.told = [&](double seconds) { told.push_back(seconds); };
  EXPECT_EQ(winner(), 128);
  order.resize(3);  // then the finals
  EXPECT_EQ(order, (std::vector{64, 256, 128}));
  EXPECT_EQ(offered, (std::vector<std::size_t>{1})) << "not the first, which pays for the reference too";
  EXPECT_EQ(told, (std::vector{4e-3}));
}

TEST_F(TuningSearch, AToolHearsThatAConfigurationFailed) {
  std::vector<double> told;
  m_spoil = [](int q, flashpad::Row row) {
    if (q == 256) row.verified = false;
    return row;
  };
  m_oracle.suggest = [](std::size_t) { return std::size_t{2}; };
  m_oracle.told = [&](double seconds) { told.push_back(seconds); };
  EXPECT_EQ(winner(), 128);
  EXPECT_EQ(told, (std::vector{std::numeric_limits<double>::infinity()}));
}

TEST_F(TuningSearch, JobsShareTheCandidates) {
  Cost cost;
  {
    Journal journal(m_cache, "a search");
    measure_share(m_candidates, m_oracle, journal, {0, 2}, cost);
    EXPECT_EQ(m_calls.size(), 2u);
  }
  {
    Journal journal(m_cache, "a search");
    measure_share(m_candidates, m_oracle, journal, {1, 2}, cost);
  }
  EXPECT_EQ(m_calls, (std::map<int, int>{{64, 1}, {128, 1}, {256, 1}}));
  EXPECT_EQ(winner(), 128);
  EXPECT_EQ(m_calls[64], 1 + 3);
}

}  // namespace
}  // namespace flashpad::tuning
