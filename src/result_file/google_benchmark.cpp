// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/case_fields.hpp"
#include "result_file/formats.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

// What Google Benchmark writes for `flashpad bench`. Repetitions of one benchmark become one row, by its
// median.

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;

double seconds_per(Fields const& fields) {
  std::string const unit = fields.text("time_unit");
  for (auto const& [name, scale] :
       {std::pair{"s", 1.0}, std::pair{"ms", 1e-3}, std::pair{"us", 1e-6}, std::pair{"ns", 1e-9}}) {
    if (unit == name) return scale;
  }
  fields.refuse("time_unit", "s, ms, us or ns");
}

// "b1_h4_n512_d64_fp32_none_fused/manual_time" -> the case.
std::string case_of(std::string const& name) { return name.substr(0, name.find('/')); }

Entry entry_of(Fields const& fields, std::string const& name) {
  Entry entry;
  Row& row = entry.row;
  row.case_name = case_of(name);
  row.kernel = row.case_name;
  if (auto const said = case_fields(row.case_name)) {
    row.kernel = said->kernel;
    row.shape = said->shape;
    row.dtype = said->dtype;
    row.mask = said->mask;
    entry.method = said->method;
    entry.variant = said->variant;
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

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

void read_google_benchmark(Json const& document, ResultFile& file) {
  Json const& benchmarks = document.at("benchmarks");
  std::map<std::string, std::size_t> known;
  std::vector<std::vector<double>> times;
  for (std::size_t b = 0; b < benchmarks.size(); ++b) {
    Fields const fields(benchmarks[b], place_of(file, "benchmarks", b));
    if (fields.text("run_type") == "aggregate") continue;
    std::string const name = fields.has("run_name") ? fields.text("run_name") : fields.text("name");
    auto const [found, is_new] = known.emplace(name, file.entries.size());
    if (is_new) {
      file.entries.push_back(entry_of(fields, name));
      file.entries.back().machine = machine_of(file.context);
      times.emplace_back();
    }
    Row& row = file.entries[found->second].row;
    if (fields.boolean("error_occurred").value_or(false)) {
      row.reason = fields.text("error_message");
      row.status = std::string_view(row.reason).starts_with("oom") ? Status::oom : Status::failed;
      continue;
    }
    if (auto const time = fields.number("real_time")) {
      times[found->second].push_back(*time * seconds_per(fields));
      row.status = Status::ok;
    }
    if (auto const rate = fields.number("FLOP/s")) row.tflops = *rate / 1e12;
    if (auto const rate = fields.number("model_bytes/s"))
      row.bytes_model = *rate * times[found->second].back();
  }
  for (std::size_t e = 0; e < file.entries.size(); ++e) {
    Row& row = file.entries[e].row;
    if (times[e].empty()) continue;
    row.median_s = median_of(times[e]);
    row.min_s = *std::min_element(times[e].begin(), times[e].end());
    row.repetitions = static_cast<int>(times[e].size());
    if (row.tflops) row.flops = *row.tflops * 1e12 * *row.median_s;
    if (row.flops && row.bytes_model && *row.bytes_model > 0) row.intensity = *row.flops / *row.bytes_model;
    complete_by_model(file.entries[e]);
  }
}

}  // namespace flashpad::results
