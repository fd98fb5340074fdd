// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/sweep.hpp"

#include "model/counts.hpp"
#include "model/lengths.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace flashpad::report {

namespace {

/// "b1_h4_n*_d64_fp32_none_fused".
std::string series_of(Row const& row) {
  std::string const length = fmt::format("_n{}_", row.shape.seq_k);
  std::size_t const at = row.case_name.find(length);
  if (row.shape.seq_q != row.shape.seq_k || at == std::string::npos) return {};
  return row.case_name.substr(0, at) + "_n*_" + row.case_name.substr(at + length.size());
}

/// Rows of each series by length, where there are two lengths or more.
std::map<std::string, std::map<std::int64_t, Row const*>> series(std::vector<Row> const& rows) {
  std::map<std::string, std::map<std::int64_t, Row const*>> all;
  for (Row const& row : rows) {
    std::string const name = series_of(row);
    if (!name.empty()) all[name + '\n' + row.backend].emplace(row.shape.seq_k, &row);
  }
  std::erase_if(all, [](auto const& entry) { return entry.second.size() < 2; });
  return all;
}

std::string line_of(Crossover const& c) {
  std::string const label = fmt::format("  crossover [{}]: ", c.series);
  if (!c.behind) {
    return label +
           fmt::format("{} is ahead of naive at every length, from N = {} ({:.2f}x) to {} ({:.2f}x)\n",
                       c.kernel, c.first, c.first_speedup, c.last, c.last_speedup);
  }
  if (!c.ahead) {
    return label + fmt::format("{} is not ahead of naive at N = {} ({:.2f}x), the longest measured\n",
                               c.kernel, c.last, c.last_speedup);
  }
  return label + fmt::format("{} passes naive between N = {} and {} ({:.2f}x at {}, {:.2f}x at {})\n",
                             c.kernel, *c.behind, *c.ahead, c.first_speedup, c.first, c.last_speedup, c.last);
}

double score_bytes_of(Row const& row) {
  model::Work work;
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    if (name(dtype) == row.dtype) work.dtype = dtype;
  }
  return row.kernel == name(Kernel::naive_vendor) ? size_of(work.dtype) : model::score_bytes(work.dtype);
}

}  // namespace

std::vector<Crossover> crossovers(std::vector<Row> const& rows) {
  std::vector<Crossover> all;
  for (auto const& [key, by_length] : series(rows)) {
    Crossover c;
    int lengths = 0;
    for (auto const& [n, row] : by_length) {
      if (!row->speedup_vs_naive || row->kernel == name(Kernel::naive)) continue;
      if (lengths++ == 0) {
        c.first = n;
        c.first_speedup = *row->speedup_vs_naive;
        c.series = key.substr(0, key.find('\n'));
        c.kernel = row->kernel;
      }
      c.last = n;
      c.last_speedup = *row->speedup_vs_naive;
      if (*row->speedup_vs_naive > 1) {
        if (!c.ahead) c.ahead = n;
      } else {
        c.behind = n;
        c.ahead.reset();
      }
    }
    if (lengths >= 2) all.push_back(c);
  }
  return all;
}

std::string sweep_text(std::vector<Row> const& rows, std::vector<Limit> const& limits) {
  std::string text;
  for (Crossover const& crossover : crossovers(rows)) text += line_of(crossover);
  std::set<double> scores;  // bytes of one, of the kernels that store them
  for (auto const& [key, by_length] : series(rows)) {
    Row const& any = *by_length.begin()->second;
    if (any.kernel != name(Kernel::naive) && any.kernel != name(Kernel::naive_vendor)) continue;
    scores.insert(score_bytes_of(any));
    auto const oom = std::find_if(by_length.begin(), by_length.end(), [](auto const& entry) {
      return entry.second->status == Status::oom && entry.second->bytes_needed;
    });
    if (oom == by_length.end()) continue;
    text += fmt::format("  out of memory [{}]: from N = {} on, where {} asks for {}\n",
                        key.substr(0, key.find('\n')), oom->first, any.kernel,
                        format_bytes(*oom->second->bytes_needed));
  }
  for (double const bytes : scores) {
    std::string line;
    for (Limit const& limit : limits) {
      if (limit.bytes <= 0) continue;
      line += fmt::format("{}{} ({}) at N = {}", line.empty() ? "" : ", ", limit.name,
                          format_bytes(limit.bytes), model::length_past(limit.bytes, bytes));
    }
    if (!line.empty())
      text += fmt::format("  S of one head, {:.0f} bytes a score, first exceeds the {}\n", bytes, line);
  }
  return text;
}

nlohmann::ordered_json to_json(Crossover const& c) {
  nlohmann::ordered_json json;
  json["series"] = c.series;
  json["kernel"] = c.kernel;
  json["first_n"] = c.first;
  json["first_speedup"] = c.first_speedup;
  json["last_n"] = c.last;
  json["last_speedup"] = c.last_speedup;
  json["behind_n"] = c.behind ? nlohmann::ordered_json(*c.behind) : nlohmann::ordered_json();
  json["ahead_from_n"] = c.ahead ? nlohmann::ordered_json(*c.ahead) : nlohmann::ordered_json();
  return json;
}

}  // namespace flashpad::report
