// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/result_file.hpp"

#include <flashpad/error.hpp>

#include "model/counts.hpp"
#include "result_file/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string text_of(fs::path const& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw Error(fmt::format("{}: is a folder; allowed: a file", path.string()));
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open() || stream.bad()) {
    throw Error(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  }
  return text;
}

// Copying and comparing values recurse: what is deeper than any result is refused before it is one.
Json parse(fs::path const& path) {
  constexpr int deepest = 32;
  std::string const text = text_of(path);
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
      if (depth > deepest) {
        throw Error(fmt::format("{}: brackets are nested more than {} deep; allowed: a file of results",
                                path.string(), deepest));
      }
      return true;
    });
  } catch (Json::parse_error const& error) {
    auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    auto const line = 1 + std::count(text.begin(), end, '\n');
    throw Error(
        fmt::format("{}:{}: is no JSON from byte {} on; allowed: a file that flashpad run, bench or tune, "
                    "scripts/bench_host.py or scripts/gpu_peers.py wrote",
                    path.string(), line, error.byte));
  } catch (Json::out_of_range const&) {
    throw Error(
        fmt::format("{}: has a number that no double can hold; allowed: finite numbers", path.string()));
  }
}

bool has_array(Json const& document, char const* name) {
  return document.is_object() && document.contains(name) && document.at(name).is_array();
}

bool first_row_has(Json const& document, char const* name) {
  Json const& rows = document.at("rows");
  return !rows.empty() && rows.front().is_object() && rows.front().contains(name);
}

struct Format {
  char const* name;
  char const* array;
  bool (*recognises)(Json const&);
  void (*read)(Json const&, ResultFile&);
};

// The first that recognises a file reads it.
constexpr Format formats[] = {
    {"flashpad bench", "benchmarks", [](Json const&) { return true; }, read_google_benchmark},
    {"flashpad tune", "searches", [](Json const&) { return true; }, read_tune},
    {"gpu_peers.py", "rows", [](Json const& document) { return first_row_has(document, "nq"); },
     read_gpu_peers},
    {"bench_host.py", "rows", [](Json const& document) { return first_row_has(document, "peer"); }, read_run},
    {"flashpad run", "rows", [](Json const&) { return true; }, read_run}};

std::string keys_of(Json const& document) {
  if (!document.is_object()) return document.type_name();
  std::vector<std::string> keys;
  for (auto it = document.begin(); it != document.end() && keys.size() < 5; ++it) {
    std::string const quoted =
        Json(it.key().substr(0, 30)).dump(-1, ' ', true, Json::error_handler_t::replace);
    keys.push_back('`' + quoted.substr(1, quoted.size() - 2) + '`');  // one line, whatever is in the file
  }
  return keys.empty() ? "an empty object" : fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

std::string place_of(ResultFile const& file, char const* array, std::size_t index) {
  return fmt::format("{}: {}[{}]", file.path.string(), array, index);
}

void complete_by_model(Entry& entry) {
  Row& row = entry.row;
  std::vector<std::string> const kernels = kernel_names();
  bool const ours =
      std::find(kernels.begin(), kernels.end(), row.kernel) != kernels.end() && row.kernel != "auto";
  bool const known_mask = row.mask == "none" || row.mask == "causal";
  if (row.bytes_model || !ours || !known_mask) return;
  model::Work work{.shape = row.shape, .mask = row.mask == "causal" ? Mask::causal() : Mask::none()};
  for (DType const dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    if (name(dtype) == row.dtype) work.dtype = dtype;
  }
  Kernel const kernel = kernel_from_name(row.kernel);
  row.bytes_model = model::bytes_model(kernel, work);
  row.byte_ratio = model::byte_ratio(kernel, work);
  if (row.flops && *row.bytes_model > 0) row.intensity = *row.flops / *row.bytes_model;
  entry.estimated = true;
}

ResultFile read(fs::path const& path) {
  Json const document = parse(path);
  ResultFile file;
  file.path = path;
  for (Format const& format : formats) {
    if (!has_array(document, format.array) || !format.recognises(document)) continue;
    std::size_t const rows = document.at(format.array).size();
    if (rows > most_rows) {
      throw Error(
          fmt::format("{}: {}: {} rows; allowed: at most {}", path.string(), format.array, rows, most_rows));
    }
    file.format = format.name;
    file.context = document.value("context", Json::object());
    Fields(file.context, path.string() + ": context");
    format.read(document, file);
    return file;
  }
  throw Error(
      fmt::format("{}: found {}; allowed: an object with `rows` (flashpad run, bench_host.py, "
                  "gpu_peers.py), `benchmarks` (flashpad bench) or `searches` (flashpad tune)",
                  path.string(), keys_of(document)));
}

}  // namespace flashpad::results
