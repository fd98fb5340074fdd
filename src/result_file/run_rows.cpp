// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/case_fields.hpp"
#include "result_file/formats.hpp"

#include "model/bf16_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

// The rows of `flashpad run --json`, and those of scripts/bench_host.py, which have more fields.

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

Status status_of(Fields const& fields) {
  std::string const text = fields.text("status");
  for (Status const status : {Status::ok, Status::failed, Status::oom, Status::skipped}) {
    if (text == name(status)) return status;
  }
  fields.refuse("status", "ok, failed, oom or skipped");
}

Shape shape_of(Fields const& fields) {
  Shape shape;
  shape.batch = fields.integer("batch").value_or(1);
  shape.heads = fields.integer("heads").value_or(1);
  shape.kv_heads = fields.integer("kv_heads").value_or(shape.heads);
  shape.seq_q = fields.integer("seq_q").value_or(0);
  shape.seq_k = fields.integer("seq_k").value_or(shape.seq_q);
  shape.head_dim = fields.integer("head_dim").value_or(0);
  shape.value_dim = fields.integer("value_dim").value_or(shape.head_dim);
  return shape;
}

Row row_of(Fields const& fields) {
  Row row;
  row.case_name = fields.required_text("case");
  row.kernel = fields.text("kernel");
  row.backend = fields.text("backend");
  row.engine = fields.optional_text("engine");
  row.dtype = fields.text("dtype");
  row.shape = shape_of(fields);
  row.mask = fields.text("mask");
  row.layout = fields.text("layout");
  row.tile = fields.optional_text("tile");
  row.splits = fields.count("splits");
  row.status = status_of(fields);
  row.reason = fields.text("reason");
  row.median_s = fields.seconds("median_s");
  row.samples_s = fields.all_seconds("samples_s");
  row.min_s = fields.number("min_s");
  row.spread = fields.number("spread");
  row.repetitions = fields.count("repetitions").value_or(0);
  row.cache = fields.text("cache");
  row.first_call_s = fields.number("first_call_s");
  row.flops = fields.number("flops");
  row.tflops = fields.number("tflops");
  row.bytes_model = fields.number("bytes_model");
  row.bytes_tiles = fields.number("bytes_tiles");
  row.bytes_measured = fields.number("bytes_measured");
  row.intensity = fields.number("intensity");
  row.roof = fields.optional_text("roof");
  row.roof_fraction = fields.number("roof_fraction");
  row.flag = fields.text("flag");
  row.max_abs_err = fields.number("max_abs_err");
  row.tolerance = fields.number("tolerance");
  row.rel_err = fields.number("rel_err");
  row.lse_max_err = fields.number("lse_max_err");
  row.worst = fields.optional_text("worst");
  row.verified = fields.boolean("verified");
  row.verified_rows = fields.integer("verified_rows").value_or(0);
  row.workspace_bytes = fields.number("workspace_bytes");
  row.bytes_needed = fields.number("bytes_needed");
  row.launches = fields.count("launches");
  row.speedup_vs_naive = fields.number("speedup_vs_naive");
  row.byte_ratio = fields.number("byte_ratio");
  if (std::optional<double> const simulated = fields.number("simulated_bytes"))
    row.counters.emplace().simulated_bytes = simulated;
  return row;
}

/// A backend as the context describes it.
struct Place {
  std::string name;
  std::string machine;
  Fields fields;
};

std::vector<Place> places_of(ResultFile const& file, Fields const& context) {
  std::vector<Place> places;
  Json const* const backends = context.array("backends");
  for (std::size_t b = 0; backends != nullptr && b < backends->size(); ++b) {
    Fields const fields((*backends)[b], place_of(file, "context.backends", b));
    std::string device = fields.text("device");
    places.push_back({fields.text("name"), device.empty() ? context.text("cpu") : device, fields});
  }
  return places;
}

// The peaks that could bound a row of this type. 16-bit types are multiplied as float32, as pairs of bfloat16
// or by matrix units; float32 as itself, by matrix units or as several products of bfloat16.
Roofs roofs_of(Place const& place, std::string const& dtype, std::string const& engine) {
  struct Kind {
    char const* field;
    char const* name;
    bool applies;
  };
  bool const wide = dtype == "fp64";
  bool const narrow = dtype == "fp16" || dtype == "bf16";
  std::array const kinds = {Kind{"peak_flops_fp64", "fp64", wide}, Kind{"peak_flops_fp32", "fp32", !wide},
                            Kind{"peak_flops_bf16", "bf16", dtype == "bf16"},
                            Kind{"peak_flops_matrix", matrix_units, narrow}};
  Roofs roofs;
  for (Kind const& kind : kinds) {
    double const flops = kind.applies ? place.fields.number(kind.field).value_or(0) : 0;
    if (flops > 0) roofs.peaks.push_back({kind.name, flops});
  }
  double const products = model::bf16_products(engine, dtype);
  double const pairs = products > 1 ? place.fields.number("peak_flops_bf16").value_or(0) : 0;
  if (pairs > 0) roofs.peaks.push_back({fmt::format("bf16 / {}", products), pairs / products});
  roofs.bandwidth = place.fields.number("peak_bytes_per_s").value_or(0);
  return roofs;
}

// Several programs run its cases. Each round gave one median, and `spread` is the rounds' distance from least
// to most, so that two rounds are known from their middle and their distance.
void read_peer(Fields const& fields, Entry& entry) {
  Row& row = entry.row;
  entry.contender = fields.required_text("peer");
  entry.facts["kernel"] = entry.contender;
  entry.facts.erase("backend");  // which only ours has
  row.case_name += "_" + entry.contender;
  entry.spread_of_rounds = true;
  if (!row.samples_s.empty() || fields.count("rounds") != 2 || !row.median_s || !row.spread) return;
  double const half = *row.median_s * *row.spread / 2;
  if (half < *row.median_s) row.samples_s = {*row.median_s - half, *row.median_s + half};
}

}  // namespace

void read_run(Json const& document, ResultFile& file) {
  Fields const context(file.context, file.path.string() + ": context");
  std::vector<Place> const places = places_of(file, context);
  Json const& rows = document.at("rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Fields const fields(rows[r], place_of(file, "rows", r));
    Entry entry;
    entry.row = row_of(fields);
    entry.threads = fields.count("threads").value_or(0);
    take_facts(fields,
               {"kernel", "backend", "engine", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k",
                "head_dim", "value_dim", "mask", "layout", "tile", "splits", "cache", "threads"},
               entry.facts);
    entry.contender = entry.row.kernel;
    if (auto const name = case_fields(entry.row.case_name)) {
      entry.method = name->method;
      entry.variant = name->variant;
    }
    if (fields.has("peer")) read_peer(fields, entry);
    auto const place = std::find_if(places.begin(), places.end(),
                                    [&](Place const& one) { return one.name == entry.row.backend; });
    entry.machine = place != places.end() ? place->machine : context.text("cpu");
    // bench_host.py puts the roofs of each row's own process and number of threads into the row.
    double const peak = fields.number("peak_flops").value_or(0);
    if (peak > 0) {
      entry.roofs = {{{entry.row.dtype, peak}}, fields.number("peak_bytes_per_s").value_or(0)};
    } else if (place != places.end() && entry.threads == 0) {
      entry.roofs = roofs_of(*place, entry.row.dtype, entry.row.engine.value_or(""));
    }
    complete_by_model(entry);
    file.entries.push_back(std::move(entry));
  }
}

}  // namespace flashpad::results
