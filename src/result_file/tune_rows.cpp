// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/formats.hpp"

#include <utility>

// What `flashpad tune --json` writes: searches, and a row for each configuration that one of them knows.

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

Search search_of(Fields const& fields) {
  Search search;
  search.case_name = fields.required_text("case");
  search.kernel = fields.text("kernel");
  search.status = fields.required_text("status");
  search.reason = fields.text("reason");
  search.winner_median_s = fields.seconds("winner_median_s");
  search.table_median_s = fields.seconds("table_median_s");
  search.speedup_vs_table = fields.number("speedup_vs_table");
  return search;
}

Facts facts_of(Json const& json, Fields const& fields) {
  Facts facts;
  take_facts(fields,
             {"kernel", "backend", "engine", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k",
              "head_dim", "value_dim", "mask"},
             facts);
  if (!fields.has("winner")) return facts;
  Fields const winner(json.at("winner"), fields.place() + ".winner");
  facts["tile"] = winner.word("q") + "x" + winner.word("k");
  take_facts(winner, {"team", "stages"}, facts);
  return facts;
}

// The device of the search's backend, where it has one.
std::string machine_of(ResultFile const& file, Fields const& context, std::string const& backend) {
  Json const* const backends = context.array("backends");
  for (std::size_t b = 0; backends != nullptr && b < backends->size(); ++b) {
    Fields const fields((*backends)[b], place_of(file, "context.backends", b));
    std::string device = fields.text("device");
    if (fields.text("name") == backend && !device.empty()) return device;
  }
  return context.text("cpu");
}

Trial trial_of(Fields const& fields) {
  Trial trial;
  trial.tile = fields.text("tile");
  trial.q = fields.integer("q").value_or(0);
  trial.k = fields.integer("k").value_or(0);
  trial.team = fields.integer("team").value_or(0);
  trial.stages = fields.integer("stages").value_or(0);
  trial.status = fields.boolean("pruned").value_or(false) ? "pruned" : fields.text("status");
  trial.reason = fields.text("reason");
  trial.median_s = fields.number("median_s");
  trial.final_median_s = fields.number("final_median_s");
  trial.tflops = fields.number("tflops");
  trial.winner = fields.boolean("winner").value_or(false);
  trial.from_table = fields.boolean("table").value_or(false);
  return trial;
}

// The search that a row belongs to: by its number, or by the problem and the kernel.
std::size_t search_of_row(Fields const& row, ResultFile const& file) {
  if (auto const number = row.integer("search")) {
    if (*number < 0 || *number >= static_cast<std::int64_t>(file.searches.size()))
      row.refuse("search", "the number of one of the searches");
    return static_cast<std::size_t>(*number);
  }
  std::string const name = row.text("case");
  std::string const kernel = row.text("kernel");
  for (std::size_t s = 0; s < file.searches.size(); ++s) {
    Search const& search = file.searches[s];
    if (search.case_name == name && (kernel.empty() || search.kernel == kernel)) return s;
  }
  row.refuse("case", "the case of one of the searches");
}

}  // namespace

void read_tune(Json const& document, ResultFile& file) {
  Fields const whole(document, file.path.string() + ": document");
  Fields const context(file.context, file.path.string() + ": context");
  Json const& searches = *whole.array("searches");
  for (std::size_t s = 0; s < searches.size(); ++s) {
    Fields const fields(searches[s], place_of(file, "searches", s));
    Search search = search_of(fields);
    search.facts = facts_of(searches[s], fields);
    search.machine = machine_of(file, context, fields.text("backend"));
    if (searches[s].contains("cost") && searches[s].at("cost").is_object())
      search.cost_s = Fields(searches[s].at("cost"), fields.place() + ".cost").number("total_s");
    file.searches.push_back(std::move(search));
  }
  Json const* const rows = whole.array("rows");
  for (std::size_t r = 0; rows != nullptr && r < rows->size(); ++r) {
    Fields const fields((*rows)[r], place_of(file, "rows", r));
    file.searches[search_of_row(fields, file)].trials.push_back(trial_of(fields));
  }
}

}  // namespace flashpad::results
