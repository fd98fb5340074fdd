// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/formats.hpp"

#include <algorithm>
#include <utility>

// The rows of scripts/gpu_peers.py.

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

Row row_of(Fields const& fields) {
  Row row;
  constexpr double millisecond = 1e-3;
  row.kernel = fields.text("kernel");
  row.backend = "cuda";
  row.engine = fields.optional_text("engine");
  row.dtype = fields.text("dtype");
  Shape& shape = row.shape;
  shape.batch = fields.integer("b").value_or(1);
  shape.heads = fields.integer("h").value_or(1);
  shape.kv_heads = fields.integer("kv_heads").value_or(shape.heads);
  shape.seq_q = fields.integer("nq").value_or(0);
  shape.seq_k = fields.integer("nk").value_or(shape.seq_q);
  shape.head_dim = shape.value_dim = fields.integer("d").value_or(0);
  row.mask = fields.boolean("causal").value_or(false) ? "causal" : "none";
  row.reason = fields.text("why");
  row.verified = fields.boolean("verified");
  row.max_abs_err = fields.number("max_abs_err");
  row.tolerance = fields.number("tolerance");
  row.cache = "cold";
  row.tflops = fields.number("tflops");
  row.median_s = fields.seconds("ms", millisecond);
  row.samples_s = fields.all_seconds("round_ms", millisecond);
  row.repetitions = static_cast<int>(row.samples_s.size());
  if (row.median_s && row.samples_s.size() > 1) {
    auto const [least, most] = std::minmax_element(row.samples_s.begin(), row.samples_s.end());
    row.spread = (*most - *least) / *row.median_s;
  }
  if (row.median_s && row.tflops) row.flops = *row.tflops * 1e12 * *row.median_s;
  std::string const error = fields.text("error");
  if (!error.empty()) row.reason = error;
  row.status = row.verified == false || !error.empty() ? Status::failed
               : row.median_s                          ? Status::ok
                                                       : Status::skipped;
  return row;
}

// Its kernel is the contender: ours under the name that was asked for.
Facts facts_of(Fields const& fields) {
  Facts facts;
  facts["kernel"] = fields.required_text("name");
  take_facts(fields, {"engine", "dtype", "kv_heads"}, facts);
  constexpr std::pair<char const*, char const*> renamed[] = {
      {"d", "head_dim"}, {"nq", "seq_q"}, {"nk", "seq_k"}, {"b", "batch"}, {"h", "heads"}};
  for (auto const& [theirs, ours] : renamed) {
    if (fields.has(theirs)) facts[ours] = fields.word(theirs);
  }
  if (auto const causal = fields.boolean("causal")) facts["mask"] = *causal ? "causal" : "none";
  return facts;
}

}  // namespace

void read_gpu_peers(Json const& document, ResultFile& file) {
  Fields const context(file.context, file.path.string() + ": context");
  Json const& rows = document.at("rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Fields const fields(rows[r], place_of(file, "rows", r));
    Entry entry;
    entry.row = row_of(fields);
    entry.facts = facts_of(fields);
    entry.contender = entry.facts.at("kernel");
    entry.row.case_name = short_name(entry.facts);
    entry.spread_of_rounds = true;
    entry.machine = context.text("gpu");
    complete_by_model(entry);
    file.entries.push_back(std::move(entry));
  }
}

}  // namespace flashpad::results
