// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace flashpad::kokkos_ext {

/// Lets a tuning tool of Kokkos Tools (APEX, say) choose points of a search space that is the product of
/// named lists. It needs a Kokkos built with Kokkos_ENABLE_TUNING and a tool that tunes; else every question
/// is answered with the default.
class ToolSpace {
 public:
  static constexpr std::size_t axes = 4;
  using Point = std::array<std::int64_t, axes>;

  /// Whether a tool would answer.
  static bool available();

  /// `key` says what the choice depends on. Lists are not empty.
  ToolSpace(std::array<std::string, axes> const& names,
            std::array<std::vector<std::int64_t>, axes> const& lists, std::string const& key);

  /// The point to try next, `ours` unless a tool has another. What the tool times lasts until told().
  Point ask(Point const& ours);
  void told();

 private:
  std::array<std::size_t, axes> m_outputs = {};
  std::size_t m_input = 0;
  std::size_t m_context = 0;
  std::string m_key;
};

}  // namespace flashpad::kokkos_ext
