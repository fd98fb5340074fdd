// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench_flags.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <regex>

namespace flashpad::app {

namespace {

constexpr std::string_view prefix = "--benchmark_";
constexpr std::string_view true_or_false = "true, false, yes, no, on, off, 1, 0";

bool is_one_of(std::string_view words, std::string const& value) {
  return !value.empty() &&
         fmt::format(", {}, ", words).find(fmt::format(", {}, ", value)) != std::string::npos;
}

bool is_count(std::string_view text) {
  int number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1;
}

bool is_seconds(std::string const& text, double least) {
  char* end = nullptr;
  double const number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(number) && number >= least;
}

// Later versions of the library take `0.5s`, and `100x` for a number of iterations, as well.
bool is_min_time(std::string const& text) {
  if (text.ends_with('x')) return is_count(std::string_view(text).substr(0, text.size() - 1));
  double const least = std::nextafter(0.0, 1.0);
  return is_seconds(text.ends_with('s') ? text.substr(0, text.size() - 1) : text, least);
}

/// What one flag takes.
struct Rule {
  std::string_view name;
  std::string_view allowed;
  bool (*takes)(std::string const& value, std::string_view allowed);
  bool alone = false;  ///< may have no value
};

bool takes_word(std::string const& value, std::string_view allowed) { return is_one_of(allowed, value); }
bool takes_text(std::string const& value, std::string_view) { return !value.empty(); }
bool takes_any(std::string const&, std::string_view) { return true; }

// Flags that are not here are the library's to know, or to refuse.
constexpr Rule rules[] = {
    {"list_tests", true_or_false, takes_word, true},
    {"filter", "a regular expression", takes_any},
    {"min_time", "a number of seconds above 0",
     [](std::string const& value, std::string_view) { return is_min_time(value); }},
    {"min_warmup_time", "a number of seconds, 0 or more",
     [](std::string const& value, std::string_view) { return is_seconds(value, 0); }},
    {"repetitions", "a whole number from 1 to 2147483647",
     [](std::string const& value, std::string_view) { return is_count(value); }},
    {"enable_random_interleaving", true_or_false, takes_word, true},
    {"report_aggregates_only", true_or_false, takes_word, true},
    {"display_aggregates_only", true_or_false, takes_word, true},
    {"counters_tabular", true_or_false, takes_word, true},
    {"color", "auto, true, false, yes, no, on, off, 1, 0", takes_word},
    {"format", "console, json, csv", takes_word},
    {"out", "the name of a file", takes_text},
    {"out_format", "json, console, csv", takes_word},
    {"time_unit", "ns, us, ms, s", takes_word},
};

std::string variable_of(Rule const& rule) {
  std::string variable = fmt::format("BENCHMARK_{}", rule.name);
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return variable;
}

}  // namespace

std::vector<std::string> checked_benchmark_flags(std::vector<std::string> flags) {
  auto const refuse = [](std::string const& which, std::string const& found, Rule const& rule) {
    throw Error(fmt::format("{}: {}; allowed: {}", which, found, rule.allowed));
  };
  std::vector<std::string> all;
  for (Rule const& rule : rules) {
    std::string const variable = variable_of(rule);
    char const* const value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    if (!rule.takes(value, rule.allowed)) refuse(variable, fmt::format("found '{}'", value), rule);
    all.push_back(fmt::format("{}{}={}", prefix, rule.name, value));
  }
  for (std::string& flag : flags) {
    std::size_t const equals = flag.find('=');
    std::string const name = flag.substr(0, equals);
    for (Rule const& rule : rules) {
      if (name.substr(prefix.size()) != rule.name) continue;
      if (equals == std::string::npos) {
        if (!rule.alone) refuse(name, "has no value", rule);
      } else if (std::string const value = flag.substr(equals + 1); !rule.takes(value, rule.allowed)) {
        refuse(name, fmt::format("found '{}'", value), rule);
      }
    }
    all.push_back(std::move(flag));
  }
  return all;
}

std::string benchmark_value(std::vector<std::string> const& flags, std::string_view name) {
  std::string const start = fmt::format("{}{}=", prefix, name);
  std::string value;
  for (std::string const& flag : flags) {
    if (flag.starts_with(start)) value = flag.substr(start.size());
  }
  return value;
}

void require_match(std::vector<std::string> const& flags, Experiment const& experiment) {
  std::string pattern = benchmark_value(flags, "filter");
  if (pattern.empty() || pattern == "all") return;  // as the library has it
  bool const inverted = pattern.starts_with('-');
  if (inverted) pattern.erase(0, 1);
  try {
    std::regex const expression(pattern, std::regex::extended);
    for (Case const& one : experiment.cases) {
      if (std::regex_search(one.name + "/manual_time", expression) != inverted) return;
    }
  } catch (std::regex_error const&) {
    throw Error(
        fmt::format("--benchmark_filter: found '{}'; allowed: a POSIX extended regular expression", pattern));
  }
  throw Error(fmt::format("--benchmark_filter: `{}` matches none of the {} cases of {}", pattern,
                          experiment.cases.size(), experiment.name));
}

}  // namespace flashpad::app
