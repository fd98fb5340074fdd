// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/axes.hpp"
#include "experiment/scalars.hpp"
#include "experiment/tensor_inputs.hpp"

#include <flashpad/error.hpp>

#include <array>
#include <limits>
#include <utility>

namespace flashpad::sweep {

namespace {

using yaml::Location;
using yaml::Node;

constexpr std::int64_t max_size = std::numeric_limits<std::int32_t>::max();

std::int64_t read_size(Node const& node, std::string const& path) {
  return read_integer(node, path, 0, max_size);
}

/// A head dimension on its own, so that what the library says about it gets the place of this very value.
std::int64_t read_dim(Node const& node, std::string const& path) {
  std::int64_t const dim = read_size(node, path);
  try {
    validate(Shape{1, 1, 1, 1, 1, dim, dim}, Mask::none());
  } catch (Error const& error) {
    std::string_view message = error.what();
    message.remove_prefix(std::min(message.find(": ") + 2, message.size()));
    yaml::fail(node.at, path, message);
  }
  return dim;
}

DType read_dtype(Node const& node, std::string const& path) {
  return std::array{DType::fp64, DType::fp32, DType::fp16,
                    DType::bf16}[read_word(node, path, {"fp64", "fp32", "fp16", "bf16"})];
}

Layout read_layout(Node const& node, std::string const& path) {
  return std::array{Layout::bhnd, Layout::bnhd}[read_word(node, path, {"bhnd", "bnhd"})];
}

Distribution read_distribution(Node const& node, std::string const& path) {
  return std::array{
      Distribution::normal, Distribution::uniform, Distribution::unbalanced,
      Distribution::constant}[read_word(node, path, {"normal", "uniform", "unbalanced", "constant"})];
}

std::optional<double> read_scale(Node const& node, std::string const& path) {
  if (is_word(node, "default")) return std::nullopt;
  bool const is_text =
      !node.is_scalar() || node.quoted || node.text.find_first_of("0123456789") == std::string::npos;
  if (is_text) fail_found(node, path, "default, or a finite number such as 0.125, -2 or 1e-3");
  return read_number(node, path);
}

Mask read_mask(Node const& node, std::string const& path) {
  if (is_word(node, "none")) return Mask::none();
  if (is_word(node, "causal")) return Mask::causal();
  std::string const allowed = "none, causal or {window: [left, right]}";
  if (!node.is_map()) {
    std::string const near = node.is_scalar() ? yaml::suggestion(node.text, {"none", "causal"}) : "";
    fail(node.at, path, "found " + describe(node) + near + "; allowed: " + allowed);
  }
  require_map(node, path, {"window"});
  Node const* window = node.find("window");
  std::string const window_path = path + ".window";
  if (window == nullptr) fail(node.at, path, "found a map without keys; allowed: " + allowed);
  if (!window->is_sequence()) fail_found(*window, window_path, "a list [left, right]");
  if (window->values.size() != 2) {
    fail(window->at, window_path,
         "found a list of " + std::to_string(window->values.size()) +
             " values; allowed: a list [left, right]");
  }
  return Mask::window(read_integer(window->values[0], yaml::element_path(window_path, 0), -1, max_size),
                      read_integer(window->values[1], yaml::element_path(window_path, 1), -1, max_size));
}

std::int64_t read_seed(Node const& node, std::string const& path) {
  return read_integer(node, path, 0, std::numeric_limits<std::int64_t>::max());
}

template <std::int64_t Shape::*Size>
Axis size_axis(Node const& node, std::string const& path) {
  return make_axis(node, path, read_size,
                   [](Draft& d, std::int64_t size, Location const&) { d.result.shape.*Size = size; });
}

using MakeAxis = Axis (*)(Node const&, std::string const&);

struct Entry {
  std::string_view key;
  bool with_tensors;  ///< whether it still has a meaning beside problem.tensors
  MakeAxis make;
};

constexpr std::array<Entry, 14> entries = {{
    {"batch", false, size_axis<&Shape::batch>},
    {"heads", false, size_axis<&Shape::heads>},
    {"kv_heads", false,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_size, [](Draft& d, std::int64_t heads, Location const& at) {
         d.kv_heads = heads;
         d.kv_heads_at = at;
       });
     }},
    {"seq", false,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_size, [](Draft& d, std::int64_t size, Location const&) {
         d.result.shape.seq_q = size;
         d.result.shape.seq_k = size;
       });
     }},
    {"seq_q", false, size_axis<&Shape::seq_q>},
    {"seq_k", false, size_axis<&Shape::seq_k>},
    {"head_dim", false,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_dim,
                        [](Draft& d, std::int64_t dim, Location const&) { d.result.shape.head_dim = dim; });
     }},
    {"value_dim", false,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_dim,
                        [](Draft& d, std::int64_t dim, Location const&) { d.value_dim = dim; });
     }},
    {"dtype", true,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_dtype,
                        [](Draft& d, DType type, Location const&) { d.result.dtype = type; });
     }},
    {"mask", true,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_mask,
                        [](Draft& d, Mask mask, Location const&) { d.result.mask = mask; });
     }},
    {"scale", true,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_scale, [](Draft& d, std::optional<double> scale, Location const&) {
         d.result.scale = scale;
       });
     }},
    {"layout", true,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_layout,
                        [](Draft& d, Layout layout, Location const&) { d.result.layout = layout; });
     }},
    {"distribution", false,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_distribution,
                        [](Draft& d, Distribution kind, Location const&) { d.result.distribution = kind; });
     }},
    {"seed", false,
     [](Node const& node, std::string const& path) {
       return make_axis(node, path, read_seed, [](Draft& d, std::int64_t seed, Location const&) {
         d.result.seed = static_cast<std::uint64_t>(seed);
       });
     }},
}};

void require_shape_keys(Node const& problem, Location const& at) {
  bool const seq = problem.find("seq") != nullptr;
  bool const seq_q = problem.find("seq_q") != nullptr;
  bool const seq_k = problem.find("seq_k") != nullptr;
  for (yaml::Key const& key : problem.keys) {
    if (seq && (key.name == "seq_q" || key.name == "seq_k")) {
      fail(key.at, "problem." + key.name, "found beside problem.seq; allowed: seq, or seq_q and seq_k");
    }
    if (!seq && seq_q != seq_k && (key.name == "seq_q" || key.name == "seq_k")) {
      fail(key.at, "problem." + key.name, "found alone; allowed: seq, or seq_q and seq_k");
    }
  }
  if (!seq && !seq_q) fail(at, "problem.seq", "missing; allowed: seq, or seq_q and seq_k, or tensors");
  if (problem.find("head_dim") == nullptr)
    fail(at, "problem.head_dim", "missing; allowed: head_dim, or tensors");
}

void refuse_shape_keys(Node const& problem) {
  for (yaml::Key const& key : problem.keys) {
    auto const entry =
        std::find_if(entries.begin(), entries.end(), [&](Entry const& e) { return e.key == key.name; });
    if (entry == entries.end() || entry->with_tensors) continue;
    fail(key.at, "problem." + key.name,
         "found beside problem.tensors, which carry the shape and the values; allowed with them: dtype, "
         "mask, scale, "
         "layout");
  }
  Node const* layout = problem.find("layout");
  if (layout != nullptr && layout->is_sequence()) {
    fail_found(*layout, "problem.layout", "one value beside problem.tensors, the layout of the files");
  }
}

}  // namespace

std::vector<Axis> problem_axes(Node const& problem, Location const& at, std::filesystem::path const& folder,
                               Draft& start) {
  std::vector<std::string> known = {"tensors"};
  for (Entry const& entry : entries) known.emplace_back(entry.key);
  require_map(problem, "problem", known);

  Node const* tensors = problem.find("tensors");
  if (tensors == nullptr) {
    require_shape_keys(problem, at);
  } else {
    refuse_shape_keys(problem);
    Node const* layout = problem.find("layout");
    if (layout != nullptr) start.result.layout = read_layout(*layout, "problem.layout");
    read_tensor_inputs(*tensors, folder, start);
  }

  std::vector<Axis> axes;
  for (std::size_t i = 0; i < problem.keys.size(); ++i) {
    std::string const& key = problem.keys[i].name;
    auto const entry =
        std::find_if(entries.begin(), entries.end(), [&](Entry const& e) { return e.key == key; });
    if (entry != entries.end()) axes.push_back(entry->make(problem.values[i], "problem." + key));
  }
  return axes;
}

}  // namespace flashpad::sweep
