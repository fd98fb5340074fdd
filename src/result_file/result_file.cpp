// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/result_file.hpp"

#include <flashpad/error.hpp>

#include "model/counts.hpp"
#include "report/files.hpp"
#include "result_file/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>
#include <vector>

namespace flashpad::results {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{1} << 28;

// Devices and pipes may have no end.
std::string text_of(fs::path const& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw Error(fmt::format("{}: is a folder; allowed: a file", path.string()));
  if (report::waits_for_writer(path))
    throw Error(fmt::format("{}: is a FIFO; allowed: a file", path.string()));
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (stream && text.size() <= most_bytes) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad()) {
    throw Error(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  }
  if (text.size() > most_bytes) {
    throw Error(
        fmt::format("{}: has more than {} bytes; allowed: results of one run", path.string(), most_bytes));
  }
  return text;
}

[[noreturn]] void refuse_broken(std::string const& text, std::size_t byte, fs::path const& path) {
  std::size_t const at = std::min(byte > 0 ? byte - 1 : 0, text.size());
  std::string_view const before(text.data(), at);
  auto const line = 1 + std::count(before.begin(), before.end(), '\n');
  std::size_t const column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  char const* const what = text.empty()        ? "is empty"
                           : at >= text.size() ? "ends before its JSON does"
                                               : "is no JSON";
  throw Error(
      fmt::format("{}:{}:{}: {}; allowed: a file that flashpad run, bench, tune or profile, "
                  "scripts/bench_host.py or scripts/gpu_peers.py wrote",
                  path.string(), line, column, what));
}

// What is in a text is told as it is read: copying and comparing values recurse, so that what is deeper than
// any result is refused before it is one, and of a key's two values one would be lost in silence.
class Watch {
 public:
  explicit Watch(fs::path const& path) : m_path(path) {}

  bool operator()(int depth, Json::parse_event_t event, Json const& parsed) {
    constexpr int deepest = 32;
    if (depth > deepest) {
      throw Error(fmt::format("{}: brackets are nested more than {} deep; allowed: a file of results",
                              m_path.string(), deepest));
    }
    auto const level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start) {
      m_keys.resize(level + 2);
      m_keys[level + 1].clear();
    } else if (event == Json::parse_event_t::key &&
               !m_keys[level].insert(parsed.get_ref<std::string const&>()).second) {
      throw Error(fmt::format("{}: has the key {} twice in one object; allowed: each key once",
                              m_path.string(), cited(parsed.get_ref<std::string const&>())));
    }
    return true;
  }

 private:
  fs::path const& m_path;
  std::vector<std::set<std::string>> m_keys;  // of the open objects, by their depth
};

Json parsed(std::string const& text, fs::path const& path) {
  try {
    Watch watch(path);
    return Json::parse(
        text, [&](int depth, Json::parse_event_t event, Json& value) { return watch(depth, event, value); });
  } catch (Json::parse_error const& error) {
    refuse_broken(text, error.byte, path);
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

bool context_has(Json const& document, char const* name) {
  return document.contains("context") && document.at("context").contains(name);
}

struct Format {
  char const* name;
  char const* array;
  bool (*recognises)(Json const&);
  void (*read)(Json const&, ResultFile&);
};

// The first that recognises a file reads it.
constexpr Format formats[] = {
    {"flashpad bench", "benchmarks",
     [](Json const& document) { return context_has(document, "flashpad_version"); }, read_google_benchmark},
    {"Google Benchmark", "benchmarks", [](Json const&) { return true; }, read_google_benchmark},
    {"flashpad tune", "searches", [](Json const&) { return true; }, read_tune},
    {"gpu_peers.py", "rows", [](Json const& document) { return first_row_has(document, "nq"); },
     read_gpu_peers},
    {"bench_host.py", "rows", [](Json const& document) { return first_row_has(document, "peer"); }, read_run},
    {"flashpad run", "rows", [](Json const&) { return true; }, read_run}};

std::string keys_of(Json const& document) {
  if (!document.is_object()) return document.type_name();
  std::vector<std::string> keys;
  for (auto it = document.begin(); it != document.end() && keys.size() < 5; ++it)
    keys.push_back(cited(it.key()));
  return keys.empty() ? "an empty object" : fmt::format("{}", fmt::join(keys, ", "));
}

void require_rows(ResultFile const& file) {
  std::set<std::string> names;
  auto const require_once = [&](std::string const& name, std::string const& shown) {
    if (!names.insert(name).second) {
      throw Error(fmt::format("{}: has the case {} twice; allowed: each case once", file.path.string(),
                              cited(shown)));
    }
  };
  for (Entry const& entry : file.entries) require_once(entry.row.case_name, entry.row.case_name);
  for (Search const& search : file.searches) {
    std::string name = search.case_name;
    for (char const* fact : {"kernel", "backend", "engine"}) {
      auto const found = search.facts.find(fact);
      name += found == search.facts.end() ? "_" : "_" + found->second;
    }
    require_once(name, search.case_name);
  }
  if (names.empty()) {
    throw Error(fmt::format("{}: has no rows; allowed: results of one case or more", file.path.string()));
  }
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

ResultFile parse(std::string const& text, fs::path const& path) {
  Json const document = parsed(text, path);
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
    if (file.context.is_null()) file.context = Json::object();
    static_cast<void>(Fields(file.context, path.string() + ": context"));  // refuses what is no object
    format.read(document, file);
    require_rows(file);
    return file;
  }
  throw Error(
      fmt::format("{}: found {}; allowed: an object with `rows` (flashpad run or profile, bench_host.py, "
                  "gpu_peers.py), `benchmarks` (flashpad bench) or `searches` (flashpad tune)",
                  path.string(), keys_of(document)));
}

ResultFile read(fs::path const& path) { return parse(text_of(path), path); }

}  // namespace flashpad::results
