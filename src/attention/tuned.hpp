// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/runner.hpp"
#include "problem/text.hpp"
#include "tuning/lookup.hpp"
#include "tuning/place.hpp"

namespace flashpad::detail {

/// A tiled kernel's runner, with the tile of the tuning cache where the caller leaves it to the library and
/// there is an entry. It is planned with the table's tile first: that tells the engine, which is part of the
/// key. An entry that this backend refuses is passed over, and the choice says so.
template <class Exec, class Make>
std::unique_ptr<Runner<Exec>> with_tuned_tile(Request<Exec> request, Make const& make) {
  std::unique_ptr<Runner<Exec>> runner = make(request);
  Options& o = request.options;
  std::string const key = tuning::key_of(tuning::place_of(request.exec), request.shape, request.dtype, o.mask,
                                         runner->choice.kernel, runner->choice.engine);
  auto const describe = [&](char const* from, std::string const& note) {
    runner->choice.tuning_key = key;
    runner->choice.tile_from = from;
    runner->choice.tile_note = note;
  };
  if (o.tile != Tile{} || o.team_size != 0 || o.stages != 0) {
    describe("asked", "");
    return runner;
  }
  tuning::Found const found = tuning::find(key, FLASHPAD_VERSION);
  if (!found.entry) {
    describe("table", found.note);
    return runner;
  }
  o.tile = found.entry->winner.tile;
  o.team_size = found.entry->winner.team;
  o.stages = found.entry->winner.stages;
  std::string const label = text("tile ", o.tile.q, "x", o.tile.k, " of tuning cache ", found.file);
  try {
    runner = make(request);
    describe("cache", text(label, ", tuned on ", found.entry->case_name));
  } catch (Error const& refused) {
    describe("table", text(label, " passed over: ", refused.what()));
  }
  return runner;
}

}  // namespace flashpad::detail
