// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include <string>

// The tuning cache: a JSON file of tiles that `flashpad tune` found to be the fastest. A plan whose tile,
// team size and stages are all left to the library takes them from there, where an entry has its key
// (Choice::tuning_key); else from the library's own table. Choice::tile_from says which it was. A plan never
// measures anything itself.

namespace flashpad {

/// The file that plans read: what set_tuning_cache() was given; else FLASHPAD_TUNING_CACHE; else
/// flashpad/tuning.json in XDG_CACHE_HOME or ~/.cache. Empty where the cache is off: the variable is `off`,
/// or there is no home. The file may not exist.
FLASHPAD_EXPORT std::string tuning_cache_file();

/// Plans made from now on read this file; an empty name turns the cache off. Any thread may call it.
FLASHPAD_EXPORT void set_tuning_cache(std::string const& file);

}  // namespace flashpad
