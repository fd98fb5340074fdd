// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/cache.hpp"

#include "problem/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace flashpad::tuning {

namespace {

using detail::text;
using Json = nlohmann::ordered_json;

constexpr char const* format_name = "flashpad tuning cache";
constexpr int format_version = 1;
constexpr std::uintmax_t most_bytes = 64 << 20;  // an entry has about 600

constexpr char const* key_texts[] = {"device", "driver", "backend", "kernel",
                                     "engine", "dtype",  "mask",    "flashpad"};
constexpr char const* key_numbers[] = {"threads", "head_dim", "value_dim", "seq_q", "seq_k"};

/// Thrown for what is wrong with one entry; the text is about the entry.
struct Refused {
  std::string why;
};

/// A value in a message: of unknown origin, so short.
std::string shown(Json const& value) {
  std::string const all = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return all.size() <= 40 ? all : all.substr(0, 37) + "...";
}

Json const& member(Json const& object, char const* name) {
  if (!object.is_object() || !object.contains(name)) throw Refused{text(name, ": missing")};
  return object[name];
}

std::string text_of(Json const& object, char const* name) {
  Json const& value = member(object, name);
  std::string const words = value.is_string() ? value.get<std::string>() : "";
  bool const plain = words.size() <= 200 && std::none_of(words.begin(), words.end(), [](unsigned char c) {
                       return c < 0x20 || c == 0x7f;
                     });
  // It becomes part of messages, which are one line.
  if (!value.is_string() || !plain)
    throw Refused{text(name, ": found ", shown(value), "; allowed: text on one line, up to 200 bytes")};
  return words;
}

std::int64_t count_of(Json const& object, char const* name, std::int64_t least, std::int64_t most) {
  Json const& value = member(object, name);
  bool const whole = value.is_number_integer();
  if (!whole || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    throw Refused{
        text(name, ": found ", shown(value), "; allowed: a whole number from ", least, " to ", most)};
  }
  return value.get<std::int64_t>();
}

double number_of(Json const& object, char const* name, bool positive) {
  Json const& value = member(object, name);
  double const number = value.is_number() ? value.get<double>() : -1;
  if (!std::isfinite(number) || number < 0 || (positive && number == 0)) {
    throw Refused{
        text(name, ": found ", shown(value), "; allowed: a number ", positive ? "above 0" : "from 0 on")};
  }
  return number;
}

Entry entry_from(Json const& json, std::string const& version) {
  Entry entry;
  Json const& key = member(json, "key");
  for (char const* name : key_texts) text_of(key, name);
  for (char const* name : key_numbers) count_of(key, name, 0, std::int64_t{1} << 62);
  if (key.size() != std::size(key_texts) + std::size(key_numbers))
    throw Refused{"key: has fields of another form"};
  if (text_of(key, "flashpad") != version)
    throw Refused{text("it is of Flashpad ", text_of(key, "flashpad"), ", this is ", version)};
  Json const& winner = member(json, "winner");
  entry.winner.tile.q = static_cast<int>(count_of(winner, "q", 1, max_tile));
  entry.winner.tile.k = static_cast<int>(count_of(winner, "k", 1, max_tile));
  entry.winner.team = static_cast<int>(count_of(winner, "team", 0, max_team));
  entry.winner.stages = static_cast<int>(count_of(winner, "stages", 0, max_stages));
  entry.median_s = number_of(json, "median_s", true);
  entry.max_abs_err = number_of(json, "max_abs_err", false);
  if (member(json, "verified") != Json(true)) throw Refused{"verified: it was not; allowed: true"};
  entry.case_name = text_of(json, "case");
  entry.date = text_of(json, "date");
  entry.key = nlohmann::json::parse(key.dump()).dump();  // in the order of key_of
  return entry;
}

Json to_json(Entry const& entry) {
  Json json;
  json["key"] = Json::parse(entry.key);
  json["winner"] = {{"q", entry.winner.tile.q},
                    {"k", entry.winner.tile.k},
                    {"team", entry.winner.team},
                    {"stages", entry.winner.stages}};
  json["median_s"] = entry.median_s;
  json["max_abs_err"] = entry.max_abs_err;
  json["verified"] = true;
  json["case"] = entry.case_name;
  json["date"] = entry.date;
  return json;
}

/// The entries' array, or what the whole file is refused for.
Json entries_of(std::string const& content) {
  // No value of ours is nested deeper, and the parser's own functions recurse.
  static constexpr int most_depth = 8;
  auto const shallow = [](int depth, Json::parse_event_t, Json const&) {
    if (depth > most_depth) throw Refused{detail::text("it is nested deeper than ", most_depth, " levels")};
    return true;
  };
  Json document;
  try {
    document = Json::parse(content, shallow);
  } catch (Json::exception const&) {
    throw Refused{"it is not JSON"};
  }
  if (!document.is_object() || document.value("format", Json()) != Json(format_name))
    throw Refused{text("it is not a `", format_name, "`")};
  if (document.value("version", Json()) != Json(format_version)) {
    throw Refused{text("its format has version ", shown(document.value("version", Json())),
                       "; allowed: ", format_version)};
  }
  Json const entries = document.value("entries", Json());
  if (!entries.is_array()) throw Refused{"entries: missing; allowed: a list"};
  return entries;
}

}  // namespace

Cache read_cache(std::string const& file, std::string const& version) {
  Cache cache;
  std::error_code error;
  std::filesystem::file_status const status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    cache.refused.push_back(text(file, ": refused: it is no regular file"));  // reading it may never end
    return cache;
  }
  std::uintmax_t const bytes = std::filesystem::file_size(file, error);
  if (!error && bytes > most_bytes) {
    cache.refused.push_back(text(file, ": refused: it has ", bytes, " bytes; allowed: up to ", most_bytes));
    return cache;
  }
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    if (errno != ENOENT && errno != ENOTDIR)
      cache.refused.push_back(text(file, ": refused: ", std::strerror(errno)));
    return cache;
  }
  std::ostringstream content;
  content << stream.rdbuf();
  try {
    Json const entries = entries_of(content.str());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      try {
        Entry entry = entry_from(entries[i], version);
        std::string const key = entry.key;
        if (!cache.entries.emplace(key, std::move(entry)).second)
          throw Refused{"key: another entry has it too"};
      } catch (Refused const& refused) {
        cache.refused.push_back(text(file, ": entries[", i, "]: refused: ", refused.why));
      }
    }
  } catch (Refused const& refused) {
    cache.refused.push_back(text(file, ": refused: ", refused.why));
  }
  return cache;
}

std::string cache_text(Cache const& cache) {
  Json document;
  document["format"] = format_name;
  document["version"] = format_version;
  document["entries"] = Json::array();
  for (auto const& [key, entry] : cache.entries) document["entries"].push_back(to_json(entry));
  return document.dump(2) + '\n';
}

}  // namespace flashpad::tuning
