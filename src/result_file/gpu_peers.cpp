// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/formats.hpp"

#include <algorithm>

// The rows of scripts/gpu_peers.py.

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

// Distance of the rounds' medians over their middle; the script keeps the rounds.
std::optional<double> spread_of(Fields const& fields, double median_ms) {
  Json const* const rounds = fields.array("round_ms");
  if (rounds == nullptr || rounds->size() < 2 || median_ms <= 0) return {};
  std::vector<double> times;
  for (Json const& round : *rounds) {
    if (!round.is_number()) fields.refuse("round_ms", "an array of numbers");
    times.push_back(round.get<double>());
  }
  auto const [least, most] = std::minmax_element(times.begin(), times.end());
  return (*most - *least) / median_ms;
}

Row row_of(Fields const& fields) {
  Row row;
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
  if (auto const ms = fields.number("ms")) {
    row.median_s = *ms / 1e3;
    row.spread = spread_of(fields, *ms);
    if (row.tflops) row.flops = *row.tflops * 1e12 * *row.median_s;
  }
  std::string const error = fields.text("error");
  if (!error.empty()) row.reason = error;
  row.status = row.verified == false || (!error.empty() && !row.median_s) ? Status::failed
               : row.median_s                                             ? Status::ok
                                                                          : Status::skipped;
  return row;
}

}  // namespace

void read_gpu_peers(Json const& document, ResultFile& file) {
  Fields const context(file.context, file.path.string() + ": context");
  Json const& rows = document.at("rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Fields const fields(rows[r], place_of(file, "rows", r));
    Entry entry;
    entry.row = row_of(fields);
    entry.contender = fields.text("name");
    entry.machine = context.text("gpu");
    complete_by_model(entry);
    file.entries.push_back(std::move(entry));
  }
}

}  // namespace flashpad::results
