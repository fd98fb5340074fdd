// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/file.hpp"
#include "tuning/cache.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using flashpad::test::require;

// What the reader takes can be run, and is the same once written and read again; what it refuses it names in
// a line.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace flashpad::tuning;
  char const* const version = "0.1.0";
  Cache const cache = read_cache(flashpad::test::File(data, size).path(), version);
  for (std::string const& line : cache.refused) flashpad::test::require_one_line(line);
  for (auto const& [key, entry] : cache.entries) {
    require(key == entry.key && !key.empty(), "an entry under another key");
    Configuration const& winner = entry.winner;
    require(winner.tile.q > 0 && winner.tile.k > 0 && winner.team >= 0 && winner.stages >= 0,
            "an impossible tile");
    require(entry.median_s > 0, "a winner that took no time");
  }

  std::string const text = cache_text(cache);
  flashpad::test::File const written(reinterpret_cast<std::uint8_t const*>(text.data()), text.size());
  Cache const again = read_cache(written.path(), version);
  require(again.refused.empty() && again.entries.size() == cache.entries.size(), "its own text is refused");
  for (auto const& [key, entry] : cache.entries) {
    auto const found = again.entries.find(key);
    require(found != again.entries.end() && found->second.winner == entry.winner,
            "another entry once written");
  }
  return 0;
}
