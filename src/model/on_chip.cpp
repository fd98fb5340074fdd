// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/on_chip.hpp"

#include "model/fusing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace flashpad::model {

TeamBytes team_bytes(Kernel kernel, Work const& work, Tile tile, int stages, double element_bytes) {
  double const element = element_bytes > 0 ? element_bytes : size_of(work.dtype);
  double const number = score_bytes(work.dtype);
  double const q = tile.q;
  double const k = tile.k;
  auto const d = static_cast<double>(work.shape.head_dim);
  double const dv = kernel == Kernel::stats ? 0 : static_cast<double>(work.shape.value_dim);
  return {.queries = q * d * element,
          .accumulator = q * dv * number,
          .keys_values = std::max(1, stages) * k * (d + dv) * element,
          .scores = q * k * number};
}

std::string over_budget(Kernel kernel, Work const& work, Tile tile, int team, int stages,
                        OnChip const& chip) {
  TeamBytes const bytes = team_bytes(kernel, work, tile, stages, chip.element_bytes);
  constexpr double kib = 1024;
  double const scratch = bytes.keys_values + (chip.queries_in_scratch ? bytes.queries : 0) +
                         (chip.state_in_scratch ? bytes.accumulator + bytes.scores : 0);
  if (chip.scratch > 0 && scratch > chip.scratch) {
    return fmt::format("scratch: a team needs {:.1f} KiB ({} stages), and there are {:.1f}", scratch / kib,
                       std::max(1, stages), chip.scratch / kib);
  }
  double const in_registers = (chip.queries_in_scratch ? 0 : bytes.queries) +
                              (chip.state_in_scratch ? 0 : bytes.accumulator + bytes.scores);
  double const a_lane = registers_per_lane(in_registers, std::max(1, team), chip.lanes);
  if (chip.registers > 0 && a_lane > chip.registers) {
    return fmt::format(
        "registers: {:.0f} a lane for Q, scores and the accumulator of {:.0f} KiB, and there are {:.0f}: "
        "the rest spills to memory",
        a_lane, bytes.accumulator / kib, chip.registers);
  }
  if (chip.cache > 0 && bytes.total() > chip.cache) {
    return fmt::format(
        "cache: a team works on {:.0f} KiB (accumulator {:.0f}), and the last-level cache has {:.0f}",
        bytes.total() / kib, bytes.accumulator / kib, chip.cache / kib);
  }
  return {};
}

}  // namespace flashpad::model
