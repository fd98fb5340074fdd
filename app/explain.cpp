// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"
#include "number_check.hpp"

#include <flashpad/error.hpp>

#include "explain/explain.hpp"
#include "kokkos_ext/arguments.hpp"
#include "measure/backend.hpp"
#include "measure/machine.hpp"
#include "measure/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace flashpad::app {

namespace {

struct ExplainArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::optional<double> ridge;
};

/// The module's problem: one fp16 head of d = 128.
explain::Subject textbook() {
  explain::Subject subject;
  subject.label = "one head, fp16, d 128";
  subject.work.shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 1, .seq_k = 1, .head_dim = 128, .value_dim = 128};
  subject.work.dtype = DType::fp16;
  subject.lengths = {1024, 4096, 16384};
  return subject;
}

std::string label_of(model::Work const& work) {
  Shape const& s = work.shape;
  std::string text = fmt::format("batch {}, heads {}", s.batch, s.heads);
  if (s.kv_heads != s.heads) text += fmt::format(" on {}", s.kv_heads);
  text += fmt::format(", {}, d {}", name(work.dtype), s.head_dim);
  if (s.value_dim != s.head_dim) text += fmt::format(", dv {}", s.value_dim);
  if (s.seq_q != s.seq_k) text += fmt::format(", {} quer{}", s.seq_q, s.seq_q == 1 ? "y" : "ies");
  if (!work.mask.is_none()) text += fmt::format(", mask {}", to_string(work.mask));
  return text;
}

/// Problems of an experiment that differ in more than their length, each with its lengths (of keys).
std::vector<explain::Subject> subjects_of(Experiment const& experiment) {
  std::vector<explain::Subject> subjects;
  bool any_bytes = false;
  std::map<std::string, std::size_t> place;
  for (Case const& one : experiment.cases) {
    model::Work work = measure::work_of(one);
    Shape const& s = one.shape;
    any_bytes = any_bytes || (s.batch > 0 && s.heads > 0 && s.seq_k > 0);
    std::string const label = label_of(work);
    auto const [found, added] = place.emplace(label, subjects.size());
    if (added) subjects.push_back({label, work, {}});
    std::vector<std::int64_t>& lengths = subjects[found->second].lengths;
    if (std::find(lengths.begin(), lengths.end(), s.seq_k) == lengths.end()) lengths.push_back(s.seq_k);
  }
  if (!any_bytes) {
    throw Error(fmt::format("{}: problem: no case has a key; allowed: one at least that moves bytes",
                            experiment.file.string()));
  }
  return subjects;
}

/// Tiles that the cases of a subject run with, each once. Needs an initialised Kokkos.
std::vector<explain::TileInUse> tiles_of(Experiment const& experiment, std::string const& label) {
  std::vector<explain::TileInUse> tiles;
  for (Case const& one : experiment.cases) {
    if (stores_scores(one.kernel) || label_of(measure::work_of(one)) != label) continue;
    measure::Backend& place = measure::backend(one.backend);
    explain::TileInUse tile;
    tile.kernel = name(one.kernel);
    tile.on_device = !place.info().device.empty();
    try {
      Choice const choice = place.plan({one.shape, one.dtype, one.layout, measure::options_of(one), 1});
      tile.kernel = fmt::format("{} on {}", name(choice.kernel), place.name());
      tile.tile = choice.tile;
      tile.team = choice.team_size;
      tile.from = choice.tile_from;
      tile.accumulates = choice.kernel != Kernel::stats;
      if (choice.tile.q == 0) continue;  // an empty problem runs no kernel
    } catch (Error const& refused) {
      tile.refusal = refused.what();
    }
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
  }
  return tiles;
}

struct UnitPeaks {
  model::Peaks peaks;
  char const* unit;
};

/// Of the unit that the library multiplies this type with, where there is one beside the plain one.
UnitPeaks peaks_of(measure::Backend& place, DType dtype) {
  bool const on_device = place.device_memory_free().has_value();
  if (size_of(dtype) == 2 && on_device) return {place.peaks({dtype, "mma"}), "16-bit matrices "};
  if (dtype == DType::bf16) {
    model::Peaks const pairs = place.peaks({dtype, "bf16"});
    if (pairs.flops > 0) return {pairs, "pairs of bf16 "};
  }
  return {place.peaks({dtype}), ""};
}

explain::Machine machine_of(std::string const& backend_name, ExplainArguments const& arguments, DType dtype) {
  explain::Machine machine;
  machine.cache_bytes = measure::last_level_cache();
  machine.memory_bytes = measure::host_memory_free();
  if (arguments.ridge) {
    machine.ridge = *arguments.ridge;
    machine.ridge_source = "given by --ridge";
    return machine;
  }
  measure::Backend& place = measure::backend(backend_name);
  machine.cache_bytes = place.last_level_cache();
  if (auto const free = place.device_memory_free()) machine.memory_bytes = *free;
  try {
    auto const [peaks, unit] = peaks_of(place, dtype);
    machine.ridge = peaks.flops / peaks.bandwidth;
    machine.ridge_source = fmt::format("measured now on {}: {}{:.3g} TFLOP/s over {:.3g} GB/s", place.name(),
                                       unit, peaks.flops / 1e12, peaks.bandwidth / 1e9);
  } catch (std::exception const& error) {
    std::string const text = error.what();
    machine.ridge_source = text.substr(0, text.find('\n'));
  }
  return machine;
}

int explain_problem(ExplainArguments const& arguments, Invocation const& invocation) {
  std::vector<explain::Subject> subjects = {textbook()};
  std::optional<Experiment> experiment;
  std::string backend = measure::resolve_backend("auto");
  if (!arguments.file.empty()) {
    experiment = read_experiment(arguments.file, arguments.overrides);
    subjects = subjects_of(*experiment);
    resolve_backends(*experiment);
    backend = experiment->cases.front().backend;
  }
  std::optional<kokkos_ext::KokkosGuard> kokkos;
  if (!arguments.ridge || experiment) kokkos.emplace(invocation.kokkos_flags);
  std::set<std::string> said;
  for (explain::Subject const& subject : subjects) {
    explain::Machine const machine = machine_of(backend, arguments, subject.work.dtype);
    auto const tiles = experiment ? tiles_of(*experiment, subject.label) : std::vector<explain::TileInUse>{};
    fmt::print("{}\n", explain::traffic(subject, machine));
    for (std::string const& part :
         {explain::thresholds(subject.work, machine), explain::on_chip(subject.work, tiles)}) {
      if (said.insert(part).second) fmt::print("{}\n", part);
    }
  }
  fmt::print("{}\n{}", explain::search_space(), explain::masking());
  if (kokkos) measure::release_backends();
  return success;
}

}  // namespace

void add_explain(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand("explain",
                                          "The arithmetic behind fusing, with the numbers of an experiment "
                                          "(or of one fp16 head) and this machine");
  auto const arguments = std::make_shared<ExplainArguments>();
  command.add_option("FILE", arguments->file, "Experiment in YAML; none is one fp16 head of d = 128");
  command
      .add_option("--set", arguments->overrides,
                  "Change a value of the file: path.to.key=value (may be repeated)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->needs("FILE");
  command.add_option("--ridge", arguments->ridge, "Operations a byte at which compute limits; else measured")
      ->type_name("FLOP/BYTE")
      ->check(number_between(1e-3, 1e9));
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return explain_problem(*arguments, invocation); };
  });
}

}  // namespace flashpad::app
