// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "experiment/experiment.hpp"
#include "measure/backend.hpp"
#include "measure/verify.hpp"
#include "model/counts.hpp"
#include "report/row.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace flashpad::measure {

/// How every case of an experiment is measured.
struct Settings {
  bool verify = true;
  Timing timing;
  std::optional<double> memory_limit;  ///< bytes; unset is what is free
  double verify_budget = 4e9;          ///< multiply-adds of the reference, as in rows_to_verify
  bool roofs = true;                   ///< measures the machine's peaks where a row first needs them
};

/// A case that is set up, verified and ready to be timed.
struct Prepared {
  Backend* backend = nullptr;
  std::unique_ptr<Runner> runner;
  std::int64_t copies = 1;
  Outputs outputs;  ///< of the first call
};

/// Where the seconds of a measured case went.
struct Spent {
  double first_call = 0;  ///< plan and first call
  double verifying = 0;   ///< inputs, reference, comparison
  double timing = 0;      ///< warm-up and repetitions
};

/// Measures cases one after another. Inputs and expected rows are kept for the next case of the same problem.
class Session {
 public:
  /// `find_backend` gives the backend of a name.
  explicit Session(Settings const& settings,
                   std::function<Backend&(std::string const&)> find_backend = backend);

  /// All of a case: the row, whose status tells what came of it. Throws Interrupted.
  Row measure(Case const& one);

  /// Everything before timing: foresees the memory, plans, makes the inputs, runs once, verifies, counts
  /// kernels. Fills the row; empty where the row's status is final.
  std::unique_ptr<Prepared> prepare(Case const& one, Row& row);

  [[nodiscard]] Spent const& spent() const { return m_spent; }

  /// Outputs of the last measured case, where its row is ok; empty else.
  [[nodiscard]] std::optional<Outputs> const& outputs() const { return m_outputs; }

 private:
  struct Problem {
    std::string key;
    Inputs inputs;
    std::optional<Expected> expected;
  };

  std::unique_ptr<Prepared> prepare_on(Case const& one, Backend& place, Row& row);
  std::unique_ptr<Prepared> set_up(Case const& one, Backend& place, Row& row);
  bool verify_first_call(Case const& one, Prepared const& prepared, Row& row);
  void time(Case const& one, Prepared& prepared, Row& row);

  Settings m_settings;
  std::function<Backend&(std::string const&)> m_find_backend;
  std::optional<Problem> m_problem;
  std::optional<Outputs> m_outputs;
  Spent m_spent;  // by the last measured case
};

/// The library's options for a case.
Options options_of(Case const& one, double workspace_limit = 0);

/// What the counts of a timed call depend on: it writes O and no LSE.
model::Work work_of(Case const& one);

/// Fills in operations and bytes, and what follows from them and the median.
void rate(Case const& one, Choice const& choice, Row& row);

/// Then how far a rated row is from what the machine can, and flags. Peaks are measured where they are not
/// known yet, in at most memory_limit bytes.
void put_under_roof(Case const& one, Choice const& choice, Backend& place, Row& row,
                    std::optional<double> memory_limit = std::nullopt);

/// Joins rows of the same problem: speedup_vs_naive, by backend.
void join(std::vector<Case> const& cases, std::vector<Row>& rows);

/// Marks fused rows whose speedup over naive is below what the experiment expects as failed, with the likely
/// cause. `cases` and `rows` are those of join().
void check_speedups(std::vector<Case> const& cases, double expected, std::vector<Row>& rows);

}  // namespace flashpad::measure
