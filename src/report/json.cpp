// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/json.hpp"

#include <cmath>
#include <optional>

namespace flashpad::report {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json value_or_null(std::optional<T> const& value) {
  return value ? Json(*value) : Json();
}

// JSON has no NaN and no infinity.
template <>
Json value_or_null(std::optional<double> const& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json list_or_null(std::vector<double> const& values) { return values.empty() ? Json() : Json(values); }

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

void add_counters(Json& json, Counters const& counters) {
  json["profiler"] = text_or_null(counters.profiler);
  json["profiled_calls"] = counters.calls > 0 ? Json(counters.calls) : Json();
  json["dram_read_bytes"] = value_or_null(counters.dram_read_bytes);
  json["dram_write_bytes"] = value_or_null(counters.dram_write_bytes);
  json["l2_bytes"] = value_or_null(counters.l2_bytes);
  json["l2_hit_rate"] = value_or_null(counters.l2_hit_rate);
  json["occupancy"] = value_or_null(counters.occupancy);
  json["spill_bytes"] = value_or_null(counters.spill_bytes);
  json["cycles"] = value_or_null(counters.cycles);
  json["instructions"] = value_or_null(counters.instructions);
  json["cache_misses"] = value_or_null(counters.cache_misses);
  json["flops_counted"] = value_or_null(counters.flops);
  json["simulated_bytes"] = value_or_null(counters.simulated_bytes);
}

std::string csv_field(Json const& value) {
  if (value.is_null()) return "";
  std::string const text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char const c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

template <class Fields>
std::string csv_line(Json const& object, Fields const& field) {
  std::string line;
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (it != object.begin()) line += ',';
    line += field(it);
  }
  return line + '\n';
}

}  // namespace

Json to_json(Row const& row) {
  Json json;
  json["case"] = row.case_name;
  json["kernel"] = row.kernel;
  json["backend"] = row.backend;
  json["engine"] = value_or_null(row.engine);
  json["dtype"] = row.dtype;
  json["batch"] = row.shape.batch;
  json["heads"] = row.shape.heads;
  json["kv_heads"] = row.shape.kv_heads;
  json["seq_q"] = row.shape.seq_q;
  json["seq_k"] = row.shape.seq_k;
  json["head_dim"] = row.shape.head_dim;
  json["value_dim"] = row.shape.value_dim;
  json["mask"] = row.mask;
  json["layout"] = row.layout;
  json["tile"] = value_or_null(row.tile);
  json["tile_from"] = value_or_null(row.tile_from);
  json["splits"] = value_or_null(row.splits);
  json["status"] = name(row.status);
  json["reason"] = text_or_null(row.reason);
  json["median_s"] = value_or_null(row.median_s);
  json["min_s"] = value_or_null(row.min_s);
  json["spread"] = value_or_null(row.spread);
  json["repetitions"] = row.repetitions;
  json["samples_s"] = list_or_null(row.samples_s);
  json["cache"] = text_or_null(row.cache);
  json["first_call_s"] = value_or_null(row.first_call_s);
  json["flops"] = value_or_null(row.flops);
  json["tflops"] = value_or_null(row.tflops);
  json["bytes_model"] = value_or_null(row.bytes_model);
  json["bytes_tiles"] = value_or_null(row.bytes_tiles);
  json["bytes_measured"] = value_or_null(row.bytes_measured);
  json["intensity"] = value_or_null(row.intensity);
  json["roof"] = value_or_null(row.roof);
  json["roof_fraction"] = value_or_null(row.roof_fraction);
  json["flag"] = text_or_null(row.flag);
  json["max_abs_err"] = value_or_null(row.max_abs_err);
  json["tolerance"] = value_or_null(row.tolerance);
  json["rel_err"] = value_or_null(row.rel_err);
  json["lse_max_err"] = value_or_null(row.lse_max_err);
  json["worst"] = value_or_null(row.worst);
  json["verified"] = value_or_null(row.verified);
  json["verified_rows"] = row.verified_rows;
  json["workspace_bytes"] = value_or_null(row.workspace_bytes);
  json["bytes_needed"] = value_or_null(row.bytes_needed);
  json["launches"] = value_or_null(row.launches);
  json["speedup_vs_naive"] = value_or_null(row.speedup_vs_naive);
  json["byte_ratio"] = value_or_null(row.byte_ratio);
  add_counters(json, row.counters.value_or(Counters{}));
  json["saved_model"] = value_or_null(row.saved_model);
  json["saved_measured"] = value_or_null(row.saved_measured);
  return json;
}

std::string json_document(Json const& context, std::vector<Row> const& rows) {
  Json document;
  document["context"] = context;
  document["rows"] = Json::array();
  for (Row const& row : rows) document["rows"].push_back(to_json(row));
  // Paths and environment variables may hold bytes that are not UTF-8; they must not lose the results.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string csv_document(std::vector<Row> const& rows) {
  auto const fields = [](Row const& row) {
    Json json = to_json(row);
    json.erase("samples_s");  // a list has no place in a field
    return json;
  };
  std::string text = csv_line(fields(Row{}), [](auto const& it) { return csv_field(it.key()); });
  for (Row const& row : rows)
    text += csv_line(fields(row), [](auto const& it) { return csv_field(it.value()); });
  return text;
}

}  // namespace flashpad::report
