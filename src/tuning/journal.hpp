// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "report/row.hpp"
#include "tuning/cache.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flashpad::tuning {

/// What is kept of a measured configuration.
struct Timing {
  Status status = Status::skipped;
  std::string reason;
  std::optional<double> median_s, min_s, spread, tflops, max_abs_err, tolerance;
  std::optional<bool> verified;
  int repetitions = 0;
};

Timing timing_of(::flashpad::Row const& row);

/// The timings of a search under way, in a file beside the cache: what an interrupted search resumes from,
/// and how several jobs hand in theirs. A line is appended whole or not at all.
class Journal {
 public:
  /// Opens the journal of the search `what` (its key, problem and way of timing) beside `cache`; an empty
  /// cache keeps it in memory. Lines of another search, and a last line that was cut off, are left out and
  /// named in refused(). Throws Error where it cannot be written.
  Journal(std::string const& cache, std::string const& what);
  Journal(Journal const&) = delete;
  Journal& operator=(Journal const&) = delete;
  ~Journal();

  [[nodiscard]] std::optional<Timing> find(Configuration const& configuration) const;
  [[nodiscard]] std::size_t size() const { return m_timings.size(); }
  [[nodiscard]] std::vector<std::string> const& refused() const { return m_refused; }

  void add(Configuration const& configuration, Timing const& timing);
  /// Takes in what others have added.
  void read_again();
  /// Drops all of it: the search is over, or is to start anew.
  void clear();

 private:
  void read();

  std::filesystem::path m_file;
  std::string m_what;
  int m_descriptor = -1;
  std::vector<std::pair<Configuration, Timing>> m_timings;
  std::vector<std::string> m_refused;
};

}  // namespace flashpad::tuning
