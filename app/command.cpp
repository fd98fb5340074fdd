// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"

#include "measure/backend.hpp"
#include "measure/interrupt.hpp"
#include "report/printable.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace flashpad::app {

namespace {

std::string shape_of(Shape const& s) {
  std::string text = fmt::format("b={} h={}", s.batch, s.heads);
  if (s.kv_heads != s.heads) text += fmt::format("/{}", s.kv_heads);
  text += s.seq_q == s.seq_k ? fmt::format(" n={}", s.seq_q) : fmt::format(" n={}x{}", s.seq_q, s.seq_k);
  text += s.head_dim == s.value_dim ? fmt::format(" d={}", s.head_dim)
                                    : fmt::format(" d={},{}", s.head_dim, s.value_dim);
  return text;
}

}  // namespace

void say(std::string const& text) { std::fputs(text.c_str(), stderr); }

int report_error(int code, std::string_view message) {
  std::fflush(stdout);
  say(fmt::format("flashpad: error: {}\n", report::printable(message)));
  return code;
}

int interrupted_exit() { return 128 + measure::interrupt_signal(); }

void ExperimentArguments::add_to(CLI::App& command) {
  command.add_option("FILE", file, "Experiment in YAML")->required()->check(not_empty);
  command.add_option("--set", overrides, "Change a value of the file: path.to.key=value (may be repeated)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

Experiment ExperimentArguments::read() const { return read_experiment(file, overrides); }

void resolve_backends(Experiment& experiment) {
  std::map<std::string, std::string> asked;  // for, by the backend that it is
  for (Case& one : experiment.cases) {
    std::string const found = measure::resolve_backend(one.backend);
    std::string const& first = asked.emplace(found, one.backend).first->second;
    if (first != one.backend) {
      throw Error(fmt::format("{}: backend: auto is {} here, which is listed too; allowed: each backend once",
                              experiment.file.string(), found));
    }
    one.backend = found;
  }
}

std::vector<std::string> backends_of(Experiment const& experiment) {
  std::vector<std::string> names;
  for (Case const& one : experiment.cases) {
    if (std::find(names.begin(), names.end(), one.backend) == names.end()) names.push_back(one.backend);
  }
  return names;
}

std::string not_empty(std::string const& text) { return text.empty() ? "is empty; allowed: some text" : ""; }

void apply_filter(Experiment& experiment, std::string const& filter) {
  if (filter.empty()) return;
  std::size_t const before = experiment.cases.size();
  std::erase_if(experiment.cases,
                [&](Case const& one) { return one.name.find(filter) == std::string::npos; });
  if (experiment.cases.empty()) {
    throw Error(
        fmt::format("--filter: `{}` matches none of the {} cases of {}; `flashpad check {}` lists them",
                    filter, before, experiment.name, experiment.file.string()));
  }
}

std::string fit_terminal(std::string line) {
  winsize size{};
  bool const known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  if (known && line.size() >= size.ws_col) line.resize(size.ws_col - 1U);
  return line;
}

Progress::Progress(std::size_t total) : m_total(total), m_on(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (m_on) say("\r\033[K");
}

void Progress::next(std::string const& name) {
  ++m_count;
  if (m_on) say("\r\033[K" + fit_terminal(fmt::format("[{}/{}] {}", m_count, m_total, name)));
}

std::string list_cases(Experiment const& experiment) {
  std::size_t width = 0;
  for (Case const& one : experiment.cases) width = std::max(width, one.name.size());
  std::string text;
  for (Case const& one : experiment.cases) {
    text += fmt::format("{:<{}}  {} {} {} {} {} {}\n", one.name, width, name(one.kernel), one.backend,
                        name(one.dtype), shape_of(one.shape), to_string(one.mask), name(one.layout));
  }
  return text;
}

}  // namespace flashpad::app
