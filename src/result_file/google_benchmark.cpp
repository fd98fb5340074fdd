// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/statistics.hpp"
#include "result_file/case_fields.hpp"
#include "result_file/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

// What Google Benchmark writes, for `flashpad bench` or another program. Repetitions of one benchmark are
// samples of one row; of the aggregates only the median counts, and only where the repetitions are not there.

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

double unit_of(Fields const& fields) {
  if (!fields.has("time_unit")) return 1e-9;
  std::string const unit = fields.text("time_unit");
  for (auto const& [name, scale] :
       {std::pair{"s", 1.0}, std::pair{"ms", 1e-3}, std::pair{"us", 1e-6}, std::pair{"ns", 1e-9}}) {
    if (unit == name) return scale;
  }
  fields.refuse("time_unit", "s, ms, us or ns");
}

// "case/manual_time", "case/repeats:3/manual_time": what follows the case is how it was timed.
std::string case_of(std::string const& run_name) {
  std::size_t end = run_name.size();
  for (char const* const suffix : {"/manual_time", "/real_time", "/process_time", "/repeats:", "/iterations:",
                                   "/min_time:", "/min_warmup_time:", "/threads:"}) {
    std::size_t const at = run_name.find(suffix);
    if (at != std::string::npos && at > 0) end = std::min(end, at);
  }
  return run_name.substr(0, end);
}

// Only what it says as a report's row would.
Facts facts_of(CaseFields const& said) {
  Facts facts{{"batch", fmt::format("{}", said.shape.batch)},
              {"heads", fmt::format("{}", said.shape.heads)},
              {"kv_heads", fmt::format("{}", said.shape.kv_heads)},
              {"seq_q", fmt::format("{}", said.shape.seq_q)},
              {"seq_k", fmt::format("{}", said.shape.seq_k)},
              {"head_dim", fmt::format("{}", said.shape.head_dim)},
              {"value_dim", fmt::format("{}", said.shape.value_dim)},
              {"dtype", said.dtype},
              {"kernel", said.kernel}};
  if (said.mask == "none" || said.mask == "causal") facts["mask"] = said.mask;
  return facts;
}

Entry entry_of(Fields const& fields, std::string const& name) {
  Entry entry;
  Row& row = entry.row;
  row.case_name = name;
  row.kernel = row.case_name;
  if (auto const said = case_fields(row.case_name)) {
    row.kernel = said->kernel;
    row.shape = said->shape;
    row.dtype = said->dtype;
    row.mask = said->mask;
    entry.method = said->method;
    entry.variant = said->variant;
    entry.facts = facts_of(*said);
  } else if (auto const length = fields.number("N")) {
    row.shape.seq_q = row.shape.seq_k = static_cast<std::int64_t>(*length);
  }
  entry.contender = row.kernel;
  return entry;
}

std::string machine_of(Json const& context) {
  for (char const* name : {"cpu", "host_name"}) {
    if (context.contains(name) && context.at(name).is_string()) return context.at(name).get<std::string>();
  }
  return "";
}

// The message is "oom: ..." or "failed: ...".
void take_error(Fields const& fields, Row& row) {
  row.reason = fields.text("error_message");
  if (row.reason.empty()) row.reason = "failed";
  row.status = std::string_view(row.reason).starts_with("oom") ? Status::oom : Status::failed;
}

void take_time(Fields const& fields, bool aggregate, Row& row) {
  auto const seconds = fields.seconds("real_time", unit_of(fields));
  if (!seconds) fields.refuse("real_time", "a time above 0");
  row.status = Status::ok;
  if (auto const rate = fields.number("FLOP/s")) row.tflops = *rate / 1e12;
  if (auto const rate = fields.number("model_bytes/s")) row.bytes_model = *rate * *seconds;
  if (aggregate) {
    if (row.samples_s.empty()) row.median_s = seconds;
  } else {
    row.samples_s.push_back(*seconds);
  }
}

}  // namespace

void read_google_benchmark(Json const& document, ResultFile& file) {
  Json const& benchmarks = document.at("benchmarks");
  std::map<std::string, std::size_t> known;
  for (std::size_t b = 0; b < benchmarks.size(); ++b) {
    Fields const fields(benchmarks[b], place_of(file, "benchmarks", b));
    bool const aggregate = fields.text("run_type") == "aggregate";
    if (aggregate && fields.text("aggregate_name") != "median") continue;
    std::string const name = case_of(fields.required_text(fields.has("run_name") ? "run_name" : "name"));
    auto const [found, is_new] = known.emplace(name, file.entries.size());
    if (is_new) {
      file.entries.push_back(entry_of(fields, name));
      file.entries.back().machine = machine_of(file.context);
    }
    Row& row = file.entries[found->second].row;
    if (fields.boolean("error_occurred").value_or(false)) {
      take_error(fields, row);
    } else if (row.reason.empty()) {
      take_time(fields, aggregate, row);
    }
  }
  for (Entry& entry : file.entries) {
    Row& row = entry.row;
    if (!row.samples_s.empty()) {
      measure::Summary const summary = measure::summarise(row.samples_s);
      row.median_s = summary.median;
      row.min_s = summary.min;
      row.repetitions = static_cast<int>(row.samples_s.size());
      if (row.repetitions > 1) row.spread = summary.spread;
    }
    if (!row.median_s) continue;
    if (row.tflops) row.flops = *row.tflops * 1e12 * *row.median_s;
    if (row.flops && row.bytes_model && *row.bytes_model > 0) row.intensity = *row.flops / *row.bytes_model;
    complete_by_model(entry);
  }
}

}  // namespace flashpad::results
