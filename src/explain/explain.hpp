// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/options.hpp>

#include "model/counts.hpp"
#include "model/roofline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace flashpad::explain {

/// One problem at one or more lengths.
struct Subject {
  std::string label;
  model::Work work;
  std::vector<std::int64_t> lengths;
};

/// What is known of the machine; 0 is not known.
struct Machine {
  std::string name;          ///< "openmp on AMD EPYC"
  std::string ridge_source;  ///< where the ridge comes from: "measured: ...", "given by --ridge"
  double ridge = 0;          ///< operations a byte
  double cache_bytes = 0;    ///< last-level cache
  double memory_bytes = 0;   ///< free
};

/// Traffic, intensities, and where the kernels leave the memory's roof.
std::string traffic(Subject const& subject, Machine const& machine);

/// A tile that the library runs one of the lengths with.
struct TileInUse {
  std::string kernel;
  Tile tile;
  int team = 0;             ///< threads, or warps (wavefronts) of a GPU
  std::string from;         ///< "asked", "table" or "cache"
  bool on_device = false;   ///< its state is in registers, and not in a processor's caches
  bool accumulates = true;  ///< false of `stats`, which has no output rows
  std::string refusal;      ///< why the library does not run it; the rest is then what was asked for

  friend bool operator==(TileInUse const&, TileInUse const&) = default;
};

/// What the accumulator takes of a team's registers, by wavefront size: of the textbook's tiles, and of those
/// in use.
std::string on_chip(model::Work const& work, std::vector<TileInUse> const& tiles);

/// The lengths at which one head's scores pass known budgets.
std::string thresholds(model::Work const& work, Machine const& machine);

/// The search space of the module's first lab, and why it is 54 here and 18 there.
std::string search_space();

/// Why a hidden score is a guarded -infinity, and not the module's -1e9.
std::string masking();

}  // namespace flashpad::explain
