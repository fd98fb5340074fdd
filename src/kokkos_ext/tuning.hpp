// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace flashpad::kokkos_ext {

/// Lets a tuning tool of Kokkos Tools (APEX, say) choose what is tried next of a list of configurations. It
/// needs a Kokkos built with Kokkos_ENABLE_TUNING and a tool that tunes; else every question is answered with
/// the default. The tool sees an index into the list, and no product of lists: of a product it would learn
/// times for configurations that are pruned and were never run.
class ToolSpace {
 public:
  /// Whether a tool would answer.
  static bool available();

  /// Of `count` configurations; `method` and `problem` say what the choice depends on.
  ToolSpace(std::size_t count, std::string method, std::string problem);

  /// The index to try next, `ours` unless the tool has another. A tool with a clock of its own starts it
  /// here, and stops it in told().
  std::size_t ask(std::size_t ours);
  /// What is to be least: the seconds that the last one asked for took. Infinity where it failed.
  void told(double seconds);

 private:
  std::size_t m_count;
  std::string m_method, m_problem;
  std::size_t m_method_input = 0, m_problem_input = 0, m_seconds_input = 0, m_output = 0;
  std::size_t m_context = 0;
};

}  // namespace flashpad::kokkos_ext
