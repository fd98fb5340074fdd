// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/report.hpp"

#include "report/json.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace flashpad::tuning {

namespace {

using Json = nlohmann::ordered_json;
using report::format_seconds;

template <class T>
Json value_or_null(std::optional<T> const& value) {
  return value ? Json(*value) : Json();
}

Json to_json(Configuration const& c) {
  return {{"q", c.tile.q}, {"k", c.tile.k}, {"team", c.team}, {"stages", c.stages}};
}

Json to_json(Cost const& cost, double total) {
  return {{"instantiate_s", cost.instantiate},
          {"warmup_s", cost.warm_up},
          {"search_s", cost.search},
          {"total_s", total}};
}

std::optional<double> final_median(Search const& search, Configuration const& configuration) {
  Trial const* const trial = search.trial_of(configuration);
  return trial == nullptr ? std::nullopt : trial->final_median_s;
}

Json to_json(Search const& search) {
  bool const tuned = search.outcome == Outcome::tuned;
  std::optional<double> const winner = tuned ? final_median(search, search.winner) : std::nullopt;
  std::optional<double> const table = tuned ? final_median(search, search.table) : std::nullopt;
  Shape const& s = search.problem.shape;
  Json json;
  json["case"] = search.problem.problem_key;
  json["kernel"] = name(search.problem.kernel);
  json["backend"] = search.problem.backend;
  json["engine"] = search.engine;
  json["dtype"] = name(search.problem.dtype);
  json["batch"] = s.batch;
  json["heads"] = s.heads;
  json["kv_heads"] = s.kv_heads;
  json["seq_q"] = s.seq_q;
  json["seq_k"] = s.seq_k;
  json["head_dim"] = s.head_dim;
  json["value_dim"] = s.value_dim;
  json["mask"] = to_string(search.problem.mask);
  json["key"] = search.key.empty() ? Json() : Json::parse(search.key);
  json["status"] = name(search.outcome);
  json["reason"] = search.reason.empty() ? Json() : Json(search.reason);
  json["winner"] = search.outcome == Outcome::failed ? Json() : to_json(search.winner);
  json["table"] = search.key.empty() ? Json() : to_json(search.table);
  json["winner_median_s"] = value_or_null(winner);
  json["table_median_s"] = value_or_null(table);
  json["speedup_vs_table"] = winner && table ? Json(*table / *winner) : Json();
  json["cost"] = to_json(search.result.cost, search.total_s);
  json["resumed"] = search.resumed;
  json["refused"] = search.refused;
  return json;
}

std::string_view status_of(Trial const& trial) {
  return trial.candidate.pruned.empty() ? flashpad::name(trial.timing.status) : "pruned";
}

Json to_json(Search const& search, std::size_t index, Trial const& trial) {
  Configuration const& c = trial.candidate.configuration;
  Timing const& t = trial.timing;
  std::string const& reason = trial.candidate.pruned.empty() ? t.reason : trial.candidate.pruned;
  model::TeamBytes const& bytes = trial.candidate.bytes;
  Json json;
  json["search"] = index;
  json["case"] = search.problem.problem_key;
  json["kernel"] = name(search.problem.kernel);
  json["tile"] = fmt::format("{}x{}", c.tile.q, c.tile.k);
  json["q"] = c.tile.q;
  json["k"] = c.tile.k;
  json["team"] = c.team;
  json["stages"] = c.stages;
  json["status"] = status_of(trial);
  json["pruned"] = !trial.candidate.pruned.empty();
  json["reason"] = reason.empty() ? Json() : Json(reason);
  json["median_s"] = value_or_null(t.median_s);
  json["min_s"] = value_or_null(t.min_s);
  json["spread"] = value_or_null(t.spread);
  json["repetitions"] = t.repetitions;
  json["tflops"] = value_or_null(t.tflops);
  json["verified"] = value_or_null(t.verified);
  json["max_abs_err"] = value_or_null(t.max_abs_err);
  json["tolerance"] = value_or_null(t.tolerance);
  json["team_bytes"] = bytes.total();
  json["accumulator_bytes"] = bytes.accumulator;
  json["table"] = trial.candidate.table;
  json["resumed"] = trial.resumed;
  json["final_median_s"] = value_or_null(trial.final_median_s);
  json["winner"] = trial.winner;
  return json;
}

Json to_json(Observed const& observed) {
  Json json;
  json["first_call_s"] = observed.first_call_s;
  json["cost"] = to_json(observed.cost, observed.first_call_s);
  json["steady"] = report::to_json(observed.steady);
  json["other_length"] = to_json(observed.other_length);
  json["other_batch"] = report::to_json(observed.other_batch);
  bool const has_other = observed.other_length.outcome != Outcome::failed;
  json["left_out"] = has_other ? report::to_json(observed.left_out) : Json();
  json["own"] = has_other ? report::to_json(observed.own) : Json();
  return json;
}

std::string line_of(Trial const& trial, double best) {
  Timing const& t = trial.timing;
  std::string line = fmt::format("  {:<26}{:>9}", label(trial.candidate.configuration),
                                 fmt::format("{:.0f} KiB", trial.candidate.bytes.accumulator / 1024));
  if (t.status == Status::ok && t.median_s) {
    line += fmt::format("{:>10}{:>7.2f}x{:>9.4f}{:>9.1e}", format_seconds(*t.median_s), *t.median_s / best,
                        t.tflops.value_or(0), t.max_abs_err.value_or(0));
    if (trial.final_median_s) line += fmt::format("  final {}", format_seconds(*trial.final_median_s));
    if (t.verified != true) line += "  not verified";
  } else {
    line += fmt::format("  {}: {}", flashpad::name(t.status), t.reason);
  }
  if (trial.resumed) line += "  resumed";
  if (trial.candidate.table) line += "  table";
  if (trial.winner) line += "  WINNER";
  return line + '\n';
}

/// What reasons have in common: the library's refusals name the tile, and differ in its numbers alone.
std::string kind_of(std::string const& reason) {
  if (!reason.starts_with("the library refuses it")) return reason;
  std::string kind = reason;
  std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0; });
  return kind;
}

/// One line a reason (the first of its kind), with all that it stands for.
std::string pruned_text(std::vector<Trial> const& trials) {
  struct Group {
    std::string kind, reason;
    std::vector<std::string> labels;
  };
  std::vector<Group> groups;
  std::size_t count = 0;
  for (Trial const& trial : trials) {
    std::string const& reason = trial.candidate.pruned;
    if (reason.empty()) continue;
    ++count;
    std::string const kind = kind_of(reason);
    auto known =
        std::find_if(groups.begin(), groups.end(), [&](Group const& group) { return group.kind == kind; });
    if (known == groups.end()) known = groups.insert(groups.end(), {kind, reason, {}});
    known->labels.push_back(label(trial.candidate.configuration));
  }
  std::string text;
  if (count > 0) text += fmt::format("  pruned, {} of {}:\n", count, trials.size());
  for (Group const& group : groups)
    text += fmt::format("    {}: {}\n", fmt::join(group.labels, ", "), group.reason);
  return text;
}

}  // namespace

std::string text_of(Search const& search) {
  std::string text;
  for (std::string const& line : search.refused) text += fmt::format("  {}\n", line);
  std::string const title =
      fmt::format("{} | {} | {}{}\n", search.problem.problem_key, name(search.problem.kernel),
                  search.problem.backend, search.engine.empty() ? "" : ", engine " + search.engine);
  if (search.outcome == Outcome::cached) {
    return title + text + fmt::format("  cached: {} ({})\n", label(search.winner), search.reason);
  }
  double best = 0;
  for (Trial const& trial : search.result.trials) {
    if (may_win(trial.timing) && (best == 0 || *trial.timing.median_s < best)) best = *trial.timing.median_s;
  }
  text += fmt::format("  {:<26}{:>9}{:>10}{:>8}{:>9}{:>9}\n", "tile", "acc", "time", "of best", "TFLOP/s",
                      "error");
  for (Trial const& trial : search.result.trials) {
    if (trial.candidate.pruned.empty()) text += line_of(trial, best);
  }
  text += pruned_text(search.result.trials);
  if (search.outcome == Outcome::failed) return title + text + fmt::format("  failed: {}\n", search.reason);
  std::optional<double> const winner = final_median(search, search.winner);
  std::optional<double> const table = final_median(search, search.table);
  text += fmt::format("  winner: {}, {}", label(search.winner), format_seconds(winner.value_or(0)));
  if (winner && table)
    text += fmt::format("; without tuning: {}, {} ({:.2f}x)", label(search.table), format_seconds(*table),
                        *table / *winner);
  if (search.resumed > 0) text += fmt::format("; {} timings resumed", search.resumed);
  return title + text + '\n';
}

std::string text_of(Observed const& o) {
  Search const& length = o.other_length;
  auto const seconds = [](Row const& row) {
    return row.median_s ? format_seconds(*row.median_s) : fmt::format("{}: {}", name(row.status), row.reason);
  };
  std::string text = "observed\n";
  text += fmt::format(
      "  1. first call at a new key: {} (compile 0: kernels are compiled with the library; instantiate {}; "
      "warm-up and "
      "verification {}; search {}; the rest, with the inputs and their copies, {})\n",
      format_seconds(o.first_call_s), format_seconds(o.cost.instantiate), format_seconds(o.cost.warm_up),
      format_seconds(o.cost.search),
      format_seconds(std::max(0.0, o.first_call_s - o.cost.instantiate - o.cost.warm_up - o.cost.search)));
  text += fmt::format("  2. steady state, tile {} from the {}: {}", o.steady.tile.value_or("-"),
                      o.steady.tile_from.value_or("-"), seconds(o.steady));
  if (o.steady.median_s) text += fmt::format(" ({:.0f} times less)", o.first_call_s / *o.steady.median_s);
  bool const has_other = length.outcome != Outcome::failed;
  text += fmt::format("\n  3. length {} changed to {}, in the key: the search is paid again, {}; {}\n",
                      o.steady.shape.seq_k, length.problem.shape.seq_k, format_seconds(length.total_s),
                      has_other ? "winner " + label(length.winner) : "and failed: " + length.reason);
  text += fmt::format(
      "  4. batch {} changed to {}, not in the key: no search; first call {}, then {}, tile {} from the {}\n",
      o.steady.shape.batch, o.other_batch.shape.batch, format_seconds(o.other_batch.first_call_s.value_or(0)),
      seconds(o.other_batch), o.other_batch.tile.value_or("-"), o.other_batch.tile_from.value_or("-"));
  if (!has_other) return text;
  text += fmt::format(
      "  a key without the length: at {} it takes {}, tuned at {}, in silence: {}; its own {}: {}",
      o.own.shape.seq_k, o.left_out.tile.value_or("-"), o.steady.shape.seq_k, seconds(o.left_out),
      o.own.tile.value_or("-"), seconds(o.own));
  if (o.left_out.tile == o.own.tile) {
    text += " (the same tile: here the length does not matter)";
  } else if (o.left_out.median_s && o.own.median_s) {
    text += fmt::format(" ({:.2f}x)", *o.left_out.median_s / *o.own.median_s);
  }
  return text + '\n';
}

std::string json_document(Json const& context, std::vector<Search> const& searches,
                          std::optional<Observed> const& observed) {
  Json document;
  document["kind"] = "tune";
  document["context"] = context;
  document["searches"] = Json::array();
  document["rows"] = Json::array();
  for (std::size_t i = 0; i < searches.size(); ++i) {
    document["searches"].push_back(to_json(searches[i]));
    for (Trial const& trial : searches[i].result.trials)
      document["rows"].push_back(to_json(searches[i], i, trial));
  }
  document["observed"] = observed ? to_json(*observed) : Json();
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace flashpad::tuning
