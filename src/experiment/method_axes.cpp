// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/axes.hpp"
#include "experiment/scalars.hpp"

#include <array>
#include <utility>

namespace flashpad::sweep {

namespace {

using yaml::Location;
using yaml::Node;

Kernel read_kernel(Node const& node, std::string const& path) {
  std::vector<std::string> const names = kernel_names();
  return kernel_from_name(names[read_word(node, path, names)]);
}

std::string read_backend(Node const& node, std::string const& path) {
  static std::vector<std::string> const names = {"auto", "serial", "openmp", "threads", "cuda", "hip"};
  return names[read_word(node, path, names)];
}

// Those of all builds: which of them this build and this machine have is known where the kernel runs.
std::string read_engine(Node const& node, std::string const& path) {
  static std::vector<std::string> const names = {
      "auto",        "amx-bf16",          "amx-bf16x3", "avx512-bf16",   "portable",         "portable-v4",
      "portable-v3", "portable-baseline", "rows",       "rows-amx-bf16", "rows-avx512-bf16", "rows-v4",
      "rows-v3",     "rows-baseline",     "mma",        "mma-tf32x3",    "mma-tf32",         "mfma",
      "simt"};
  std::size_t const found = read_word(node, path, names);
  return found == 0 ? "" : names[found];
}

/// auto (0), or a count that the library takes.
int read_count(Node const& node, std::string const& path, int limit) {
  if (is_word(node, "auto")) return 0;
  bool const is_number =
      node.is_scalar() && !node.quoted && node.text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) fail_found(node, path, "auto, or a whole number from 1 to " + std::to_string(limit));
  return static_cast<int>(read_integer(node, path, 1, limit));
}

int read_rows(Node const& node, std::string const& path) { return read_count(node, path, max_tile); }
int read_splits(Node const& node, std::string const& path) { return read_count(node, path, max_splits); }

int read_team(Node const& node, std::string const& path) { return read_count(node, path, max_team); }
int read_stages(Node const& node, std::string const& path) { return read_count(node, path, max_stages); }

Tile read_tile(Node const& node, std::string const& path) {
  if (is_word(node, "auto")) return {};
  if (!node.is_map()) fail_found(node, path, "auto, or a map {q: auto or a number, k: auto or a number}");
  require_map(node, path, {"q", "k"});
  Tile tile;
  if (Node const* q = node.find("q")) tile.q = read_rows(*q, path + ".q");
  if (Node const* k = node.find("k")) tile.k = read_rows(*k, path + ".k");
  return tile;
}

bool read_rounded_probabilities(Node const& node, std::string const& path) {
  return read_word(node, path, {"fp32", "input"}) == 1;
}

std::vector<Axis> tile_axes(Node const& node) {
  if (!node.is_map()) {
    return {make_axis(node, "tile", read_tile,
                      [](Draft& d, Tile const& tile, Location const&) { d.result.tile = tile; })};
  }
  require_map(node, "tile", {"q", "k"});
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    bool const is_q = node.keys[i].name == "q";
    axes.push_back(make_axis(
        node.values[i], "tile." + node.keys[i].name, read_rows,
        [is_q](Draft& d, int rows, Location const&) { (is_q ? d.result.tile.q : d.result.tile.k) = rows; }));
  }
  return axes;
}

using MakeAxis = Axis (*)(Node const&, std::string const&);

constexpr std::array<std::pair<std::string_view, MakeAxis>, 8> plain_axes = {{
    {"kernels",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_kernel,
                        [](Draft& d, Kernel k, Location const&) { d.result.kernel = k; });
     }},
    {"backend",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_backend,
                        [](Draft& d, std::string const& name, Location const&) { d.result.backend = name; });
     }},
    {"engine",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_engine,
                        [](Draft& d, std::string const& name, Location const&) { d.result.engine = name; });
     }},
    {"team",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_team,
                        [](Draft& d, int threads, Location const&) { d.result.team = threads; });
     }},
    {"stages",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_stages,
                        [](Draft& d, int tiles, Location const&) { d.result.stages = tiles; });
     }},
    {"splits",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_splits,
                        [](Draft& d, int parts, Location const&) { d.result.splits = parts; });
     }},
    {"probabilities",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_rounded_probabilities, [](Draft& d, bool rounded, Location const&) {
         d.result.probabilities_in_input_type = rounded;
       });
     }},
    {"skip_hidden_tiles",
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, yaml::read_boolean,
                        [](Draft& d, bool skip, Location const&) { d.result.skip_hidden_tiles = skip; });
     }},
}};

auto find_plain(std::string_view key) {
  return std::find_if(plain_axes.begin(), plain_axes.end(),
                      [&](auto const& entry) { return entry.first == key; });
}

}  // namespace

bool is_method_key(std::string_view key) { return key == "tile" || find_plain(key) != plain_axes.end(); }

std::vector<Axis> method_axes(std::string const& key, yaml::Node const& node) {
  if (key == "tile") return tile_axes(node);
  return {find_plain(key)->second(node, key)};
}

}  // namespace flashpad::sweep
