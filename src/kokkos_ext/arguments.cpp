// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/arguments.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace flashpad::kokkos_ext {

namespace {

enum class Value { none, number, text };

struct Flag {
  std::string_view name;
  Value value;
};

#if KOKKOS_VERSION >= 30700
constexpr Flag known_flags[] = {
    {"--kokkos-help", Value::none},
    {"--kokkos-print-configuration", Value::none},
    {"--kokkos-disable-warnings", Value::none},
    {"--kokkos-tune-internals", Value::none},
    {"--kokkos-num-threads", Value::number},
    {"--kokkos-device-id", Value::number},
    {"--kokkos-map-device-id-by", Value::text},
    {"--kokkos-tools-libs", Value::text},
    {"--kokkos-tools-args", Value::text},
    {"--kokkos-tools-help", Value::none},
};
#else
constexpr Flag known_flags[] = {
    {"--kokkos-help", Value::none},           {"--kokkos-disable-warnings", Value::none},
    {"--kokkos-tune-internals", Value::none}, {"--kokkos-threads", Value::number},
    {"--kokkos-numa", Value::number},         {"--kokkos-device-id", Value::number},
    {"--kokkos-num-devices", Value::text},  // N or N,M
    {"--kokkos-tools-library", Value::text},  {"--kokkos-tools-args", Value::text},
    {"--kokkos-tools-help", Value::none},
};
#endif

std::string known_names() {
  std::string names;
  for (Flag const& flag : known_flags) {
    char const* value = flag.value == Value::number ? "=NUMBER" : flag.value == Value::text ? "=TEXT" : "";
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", flag.name, value);
  }
  return names;
}

bool is_number(std::string_view text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

}  // namespace

bool is_kokkos_flag(std::string const& argument) { return argument.starts_with("--kokkos"); }

void check_kokkos_flags(std::vector<std::string> const& flags) {
  for (std::string const& flag : flags) {
    std::size_t const equals = flag.find('=');
    std::string_view const name = std::string_view(flag).substr(0, equals);
    auto const known = std::find_if(std::begin(known_flags), std::end(known_flags),
                                    [&](Flag const& candidate) { return candidate.name == name; });
    if (known == std::end(known_flags)) {
      throw Error(fmt::format("{}: Kokkos {}.{}.{} has no such flag; allowed: {}", name,
                              KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100,
                              known_names()));
    }
    std::string_view const value =
        equals == std::string::npos ? "" : std::string_view(flag).substr(equals + 1);
    if (known->value == Value::number && !is_number(value)) {
      throw Error(fmt::format("{}: `{}` is no number of 0 or more; allowed: {}=NUMBER", name, value, name));
    }
    if (known->value == Value::text && value.empty()) {
      throw Error(fmt::format("{}: has no value; allowed: {}=TEXT", name, name));
    }
  }
}

KokkosGuard::KokkosGuard(std::vector<std::string> const& flags) {
  check_kokkos_flags(flags);
  std::vector<std::string> words = {"flashpad"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  try {
    Kokkos::initialize(argc, argv.data());
  } catch (std::exception const& error) {
    std::string text = error.what();
    throw Error("Kokkos: " + text.substr(0, text.find('\n')));
  }
}

KokkosGuard::~KokkosGuard() { Kokkos::finalize(); }

}  // namespace flashpad::kokkos_ext
