// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/journal.hpp"

#include <flashpad/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace flashpad::tuning {

namespace {

using Json = nlohmann::json;

template <class T>
Json value_or_null(std::optional<T> const& value) {
  return value ? Json(*value) : Json();
}

template <class T>
std::optional<T> optional_of(Json const& json, char const* name) {
  Json const& value = json.at(name);
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

Json to_json(std::string const& what, Configuration const& c, Timing const& t) {
  return {{"search", what},
          {"q", c.tile.q},
          {"k", c.tile.k},
          {"team", c.team},
          {"stages", c.stages},
          {"status", name(t.status)},
          {"reason", t.reason},
          {"median_s", value_or_null(t.median_s)},
          {"min_s", value_or_null(t.min_s)},
          {"spread", value_or_null(t.spread)},
          {"tflops", value_or_null(t.tflops)},
          {"max_abs_err", value_or_null(t.max_abs_err)},
          {"tolerance", value_or_null(t.tolerance)},
          {"verified", value_or_null(t.verified)},
          {"repetitions", t.repetitions}};
}

Status status_from(std::string const& word) {
  for (Status const status : {Status::ok, Status::failed, Status::oom}) {
    if (name(status) == word) return status;
  }
  return Status::skipped;
}

std::pair<Configuration, Timing> from_json(Json const& json) {
  Configuration c;
  c.tile = {json.at("q").get<int>(), json.at("k").get<int>()};
  c.team = json.at("team").get<int>();
  c.stages = json.at("stages").get<int>();
  Timing t;
  t.status = status_from(json.at("status").get<std::string>());
  t.reason = json.at("reason").get<std::string>();
  t.median_s = optional_of<double>(json, "median_s");
  t.min_s = optional_of<double>(json, "min_s");
  t.spread = optional_of<double>(json, "spread");
  t.tflops = optional_of<double>(json, "tflops");
  t.max_abs_err = optional_of<double>(json, "max_abs_err");
  t.tolerance = optional_of<double>(json, "tolerance");
  t.verified = optional_of<bool>(json, "verified");
  t.repetitions = json.at("repetitions").get<int>();
  return {c, t};
}

/// The same in every process, unlike std::hash: FNV-1a.
std::uint64_t hash_of(std::string const& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Timing timing_of(::flashpad::Row const& row) {
  return {row.status,
          row.reason,
          row.median_s,
          row.min_s,
          row.spread,
          row.tflops,
          row.max_abs_err ? row.max_abs_err : row.lse_max_err,
          row.tolerance,
          row.verified,
          row.repetitions};
}

Journal::Journal(std::string const& cache, std::string const& what) : m_what(what) {
  if (cache.empty()) return;
  m_file = fmt::format("{}.search-{:016x}", cache, hash_of(what));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(m_file).parent_path(), error);
  m_descriptor = ::open(m_file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (m_descriptor < 0)
    throw Error(fmt::format("{}: cannot be written: {}", m_file.string(), std::strerror(errno)));
  read();
}

Journal::~Journal() {
  if (m_descriptor < 0) return;
  ::close(m_descriptor);
  std::error_code error;
  // Not what other processes have added since it was read: --jobs.
  if (m_timings.empty() && std::filesystem::file_size(m_file, error) == 0)
    std::filesystem::remove(m_file, error);
}

std::optional<Timing> Journal::find(Configuration const& configuration) const {
  for (auto const& [known, timing] : m_timings) {
    if (known == configuration) return timing;
  }
  return std::nullopt;
}

void Journal::add(Configuration const& configuration, Timing const& timing) {
  m_timings.emplace_back(configuration, timing);
  if (m_descriptor < 0) return;
  // The line before may have been cut off: a line break of its own ends it.
  std::string const line =
      '\n' + to_json(m_what, configuration, timing).dump(-1, ' ', false, Json::error_handler_t::replace) +
      '\n';
  if (::write(m_descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw Error(fmt::format("{}: cannot be written: {}", m_file.string(), std::strerror(errno)));
}

void Journal::read() {
  std::ifstream stream(m_file);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty()) continue;
    auto const refuse = [&](char const* why) {
      m_refused.push_back(fmt::format("{}:{}: refused: {}", m_file.string(), number, why));
    };
    try {
      Json const json = Json::parse(line);
      if (json.at("search") != m_what) {
        refuse("it is of another search");
        continue;
      }
      auto read = from_json(json);
      if (!find(read.first)) m_timings.push_back(std::move(read));
    } catch (Json::exception const&) {
      refuse("it was cut off or is no timing");
    }
  }
}

void Journal::read_again() {
  if (m_descriptor >= 0) read();
}

void Journal::clear() {
  m_timings.clear();
  m_refused.clear();
  if (m_descriptor >= 0 && ::ftruncate(m_descriptor, 0) != 0)
    throw Error(fmt::format("{}: cannot be written: {}", m_file.string(), std::strerror(errno)));
}

}  // namespace flashpad::tuning
