// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare/result_file.hpp"

#include <flashpad/error.hpp>

#include "compare/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

namespace flashpad::compare {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 28;
constexpr int most_levels = 32;  // printing and comparing values is recursive

std::string text_of(fs::path const& file) {
  std::error_code error;
  fs::file_status const status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    throw Error(fmt::format("{}: no such file; allowed: JSON of flashpad run or bench", file.string()));
  }
  if (status.type() != fs::file_type::regular) {
    throw Error(fmt::format("{}: is no regular file; allowed: JSON of flashpad run or bench", file.string()));
  }
  if (fs::file_size(file, error) > most_bytes) {
    throw Error(
        fmt::format("{}: has more than {} bytes; allowed: results of one run", file.string(), most_bytes));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(stream), {}};
}

nlohmann::json parsed(std::string const& text, std::string const& label) {
  try {
    return nlohmann::json::parse(text, [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
      if (depth <= most_levels) return true;
      throw Error(fmt::format("{}: is nested too deeply; allowed: {} levels", label, most_levels));
    });
  } catch (nlohmann::json::parse_error const& error) {
    std::size_t const at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    auto const end = text.begin() + static_cast<std::ptrdiff_t>(at);
    auto const line = 1 + std::count(text.begin(), end, '\n');
    std::size_t const line_start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    std::size_t const column = line_start == std::string::npos ? at + 1 : at - line_start;
    bool const cut = at >= text.size();
    throw Error(fmt::format("{}:{}:{}: {}; allowed: JSON of flashpad run or bench", label, line, column,
                            text.empty() ? "is empty"
                            : cut        ? "ends before its JSON does"
                                         : "is no JSON"));
  } catch (nlohmann::json::out_of_range const&) {
    throw Error(fmt::format("{}: has a number that no double can hold; allowed: finite numbers", label));
  }
}

}  // namespace

ResultFile parse_results(std::string const& text, std::string const& label) {
  nlohmann::json const json = parsed(text, label);
  JsonValue const document(label, json);
  ResultFile file;
  file.label = label;
  if (document.has("context")) file.context = document.at("context").json();
  if (file.context.is_null()) file.context = nlohmann::json::object();
  if (!file.context.is_object()) document.at("context").refuse("an object");
  if (document.has("benchmarks")) {
    read_google_benchmark(document.at("benchmarks"), file);
  } else if (document.has("searches")) {
    read_searches(document.at("searches"), file);
  } else if (document.has("rows")) {
    read_rows(document.at("rows"), file);
  } else {
    document.refuse("an object with rows (flashpad run) or benchmarks (flashpad bench)");
  }
  if (file.rows.empty())
    throw Error(fmt::format("{}: has no rows; allowed: results of at least one case", label));
  std::set<std::string> names;
  for (Measurement const& row : file.rows) {
    if (!names.insert(row.name).second) {
      throw Error(
          fmt::format("{}: has the case {} twice; allowed: each case once", label, printable(row.name)));
    }
  }
  return file;
}

std::string short_name(std::map<std::string, std::string> const& facts, std::string const& leave_out) {
  struct Part {
    char const* fact;
    char const* prefix;
    char const* unless_same_as = "";
  };
  constexpr Part parts[] = {{"batch", "_b"},
                            {"heads", "_h"},
                            {"kv_heads", "kv", "heads"},
                            {"seq_q", "_n"},
                            {"seq_k", "k", "seq_q"},
                            {"head_dim", "_d"},
                            {"value_dim", "v", "head_dim"},
                            {"dtype", "_"},
                            {"mask", "_"},
                            {"layout", "_"},
                            {"kernel", "_"},
                            {"backend", "_"},
                            {"threads", "_threads"}};
  std::string name;
  for (Part const& part : parts) {
    auto const found = facts.find(part.fact);
    if (found == facts.end() || part.fact == leave_out) continue;
    auto const other = facts.find(part.unless_same_as);
    if (other != facts.end() && other->second == found->second) continue;
    name += part.prefix + found->second;
  }
  return name.starts_with('_') ? name.substr(1) : name;
}

ResultFile read_results(fs::path const& file) { return parse_results(text_of(file), file.string()); }

}  // namespace flashpad::compare
