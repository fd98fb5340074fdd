// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/arguments.hpp"

#include <flashpad/error.hpp>

#include "problem/text.hpp"

#include <Kokkos_Core.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

namespace flashpad::kokkos_ext {

namespace {

enum class Value { none, count, number, text };

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
    {"--kokkos-num-threads", Value::count},
    {"--kokkos-device-id", Value::number},
    {"--kokkos-map-device-id-by", Value::text},
    {"--kokkos-tools-libs", Value::text},
    {"--kokkos-tools-args", Value::text},
    {"--kokkos-tools-help", Value::none},
};
#else
constexpr Flag known_flags[] = {
    {"--kokkos-help", Value::none},           {"--kokkos-disable-warnings", Value::none},
    {"--kokkos-tune-internals", Value::none}, {"--kokkos-threads", Value::count},
    {"--kokkos-numa", Value::count},          {"--kokkos-device-id", Value::number},
    {"--kokkos-num-devices", Value::text},  // N or N,M
    {"--kokkos-tools-library", Value::text},  {"--kokkos-tools-args", Value::text},
    {"--kokkos-tools-help", Value::none},
};
#endif

std::string known_names() {
  std::string names;
  for (Flag const& flag : known_flags) {
    char const* value = flag.value == Value::none ? "" : flag.value == Value::text ? "=TEXT" : "=NUMBER";
    names += detail::text(names.empty() ? "" : ", ", flag.name, value);
  }
  return names;
}

// Kokkos keeps its OpenMP threads in an array of this size, and writes beyond it.
constexpr int most_threads = 512;

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  std::size_t const begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// OpenMP takes a list: numbers of threads of the levels of nested parallel regions. Kokkos uses the first.
bool is_thread_list(std::string_view text) {
  for (bool first = true;; first = false) {
    std::size_t const comma = text.find(',');
    std::optional<int> const number = number_in(trimmed(text.substr(0, comma)));
    if (!number || *number < 1 || (first && *number > most_threads)) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

// Kokkos takes a number of threads from here where no flag gives one. What is none, OpenMP's runtime passes
// over, and takes all threads.
void check_environment() {
  char const* const openmp = std::getenv("OMP_NUM_THREADS");
  if (openmp != nullptr && !is_thread_list(openmp)) {
    throw Error(detail::text("OMP_NUM_THREADS: found '", openmp, "'; allowed: a whole number from 1 to ",
                             most_threads, ", or a list such as 4,2 that starts with one"));
  }
  char const* const kokkos = std::getenv("KOKKOS_NUM_THREADS");
  std::optional<int> const number = kokkos == nullptr ? 1 : number_in(kokkos);
  if (!number || *number < 1 || *number > most_threads) {
    throw Error(detail::text("KOKKOS_NUM_THREADS: found '", kokkos, "'; allowed: a whole number from 1 to ",
                             most_threads));
  }
}

// Kokkos says that it cannot load a tool, and goes on without. What is loaded here it finds loaded.
void require_tool(std::string_view where, std::string const& name) {
  if (name.empty() || dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  throw Error(detail::text(where, ": cannot be loaded: ", dlerror(), "; allowed: a tool of Kokkos'"));
}

// The first that loads is the tool, for Kokkos; here each has to be one.
void require_tools(std::string_view where, std::string_view list) {
  while (!list.empty()) {
    std::size_t const end = std::min(list.find(';'), list.size());
    require_tool(where, std::string(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

void check_tools(std::vector<std::string> const& flags) {
#if KOKKOS_VERSION >= 30700
  constexpr std::string_view name = "--kokkos-tools-libs";
  constexpr char const* variables[] = {"KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"};
#else
  constexpr std::string_view name = "--kokkos-tools-library";
  constexpr char const* variables[] = {"KOKKOS_PROFILE_LIBRARY"};
  char const* const later = std::getenv("KOKKOS_TOOLS_LIBS");
  if (later != nullptr && *later != '\0' && std::getenv(variables[0]) == nullptr) {
    throw Error(detail::text("KOKKOS_TOOLS_LIBS: found '", later, "', and Kokkos ", KOKKOS_VERSION / 10000,
                             ".", KOKKOS_VERSION / 100 % 100, " does not read it; allowed: ", variables[0]));
  }
#endif
  for (std::string const& flag : flags) {
    if (flag.starts_with(name) && flag.size() > name.size() && flag[name.size()] == '=')
      require_tools(name, std::string_view(flag).substr(name.size() + 1));
  }
  for (char const* variable : variables) {
    char const* const value = std::getenv(variable);
    if (value != nullptr) require_tools(variable, value);
  }
}

// Threads before Kokkos 3.7, built without hwloc, runs on one core unless it is told how many there are.
void count_threads(std::vector<std::string>& words) {
#if defined(KOKKOS_ENABLE_THREADS) && KOKKOS_VERSION < 30700
  if (std::getenv("KOKKOS_NUM_THREADS") != nullptr) return;
  for (std::string const& word : words) {
    if (word.starts_with("--kokkos-threads") || word.starts_with("--kokkos-numa")) return;
  }
  auto const cores = static_cast<int>(std::thread::hardware_concurrency());
  words.push_back(detail::text("--kokkos-threads=", std::clamp(cores, 1, most_threads)));
#else
  static_cast<void>(words);
#endif
}

// Kokkos before 4 warns of unbound threads on standard output, where the driver's JSON goes: while one of
// these lives, what is written there goes to standard error.
class OutputToError {
 public:
  OutputToError() {
    std::fflush(stdout);
    m_output = dup(STDOUT_FILENO);
    if (m_output >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputToError() {
    std::fflush(stdout);
    if (m_output < 0) return;
    dup2(m_output, STDOUT_FILENO);
    close(m_output);
  }
  OutputToError(OutputToError const&) = delete;
  OutputToError& operator=(OutputToError const&) = delete;

 private:
  int m_output = -1;
};

}  // namespace

bool is_kokkos_flag(std::string const& argument) { return argument.starts_with("--kokkos"); }

void check_kokkos_flags(std::vector<std::string> const& flags) {
  for (std::string const& flag : flags) {
    std::size_t const equals = flag.find('=');
    std::string_view const name = std::string_view(flag).substr(0, equals);
    auto const known = std::find_if(std::begin(known_flags), std::end(known_flags),
                                    [&](Flag const& candidate) { return candidate.name == name; });
    if (known == std::end(known_flags)) {
      throw Error(detail::text(name, ": Kokkos ", KOKKOS_VERSION / 10000, ".", KOKKOS_VERSION / 100 % 100,
                               ".", KOKKOS_VERSION % 100, " has no such flag; allowed: ", known_names()));
    }
    std::string_view const value =
        equals == std::string::npos ? "" : std::string_view(flag).substr(equals + 1);
    std::optional<int> const number = number_in(value);
    if (known->value == Value::count && (!number || *number < 1 || *number > most_threads)) {
      throw Error(detail::text(name, ": `", value, "` is out of range; allowed: ", name,
                               "=NUMBER, from 1 to ", most_threads));
    }
    if (known->value == Value::number && !number) {
      throw Error(
          detail::text(name, ": `", value, "` is no number of 0 or more; allowed: ", name, "=NUMBER"));
    }
    if (known->value == Value::text && value.empty()) {
      throw Error(detail::text(name, ": has no value; allowed: ", name, "=TEXT"));
    }
  }
}

bool asks_for_help(std::vector<std::string> const& flags) {
  return std::find(flags.begin(), flags.end(), "--kokkos-help") != flags.end() ||
         std::find(flags.begin(), flags.end(), "--kokkos-tools-help") != flags.end();
}

KokkosGuard::KokkosGuard(std::vector<std::string> const& flags) {
  check_kokkos_flags(flags);
  check_environment();
  check_tools(flags);
  std::vector<std::string> words = {"flashpad"};
  words.insert(words.end(), flags.begin(), flags.end());
  count_threads(words);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  std::optional<OutputToError> warnings;
  if (!asks_for_help(flags)) warnings.emplace();
  try {
    Kokkos::initialize(argc, argv.data());
  } catch (std::exception const& error) {
    std::string text = error.what();
    throw Error("Kokkos: " + text.substr(0, text.find('\n')));
  }
}

KokkosGuard::~KokkosGuard() { Kokkos::finalize(); }

}  // namespace flashpad::kokkos_ext
