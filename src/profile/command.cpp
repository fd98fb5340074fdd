// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/command.hpp"

#include <flashpad/error.hpp>

#include "measure/interrupt.hpp"
#include "report/printable.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace flashpad::profile {

namespace {

namespace fs = std::filesystem;

bool is_program(fs::path const& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::vector<std::string> changed_environment(
    std::vector<std::pair<std::string, std::string>> const& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string const text = *entry;
    bool changed = false;
    for (auto const& [name, value] : variables) changed = changed || text.starts_with(name + '=');
    if (!changed) entries.push_back(text);
  }
  for (auto const& [name, value] : variables) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

std::string brief(std::string_view words, std::size_t most) {
  constexpr std::string_view more = "...";
  std::string line = report::printable(words.substr(0, most + 1));
  if (line.size() <= most) return line;
  // Not between the bytes of one character of UTF-8.
  std::size_t end = most - more.size();
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end).append(more);
}

std::string Ended::reason() const {
  std::string last;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("flashpad: error: "))
      return brief(line.substr(17), 1000);  // what is allowed may be a long list
    if (!line.empty()) last = line;
  }
  if (!last.empty()) return brief(last);
  return code > 128 ? fmt::format("ended by signal {}", code - 128)
                    : fmt::format("ended with exit code {} and without a word", code);
}

Ended run(Command const& command, std::vector<std::pair<std::string, std::string>> const& variables,
          std::chrono::milliseconds limit) {
  TemporaryFolder const folder;
  std::string const out = folder.path() / "out";
  std::string const err = folder.path() / "err";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  Command words = command;
  std::vector<std::string> environment = changed_environment(variables);
  pid_t process = 0;
  int const failure = ::posix_spawn(&process, words.front().c_str(), &files, nullptr, pointers(words).data(),
                                    pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) {
    throw Error(fmt::format("{}: cannot be started: {}", words.front(), std::strerror(failure)));
  }
  auto const start = std::chrono::steady_clock::now();
  int const status = measure::wait_for_child(process, limit);
  if (status < 0) throw Error(fmt::format("{}: {}", words.front(), std::strerror(errno)));
  auto const time = std::chrono::steady_clock::now() - start;
  if (WIFSIGNALED(status) && std::chrono::duration_cast<std::chrono::milliseconds>(time) >= limit) {
    throw Error(fmt::format("{} was not done within {} s and was killed",
                            brief(fmt::format("{}", fmt::join(command, " "))),
                            std::chrono::duration<double>(limit).count()));
  }
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), text_of(out), text_of(err)};
}

std::string version_text(std::string const& program) {
  Ended const ended = run({program, "--version"}, {}, std::chrono::minutes(1));
  measure::stop_if_interrupted();  // the program was stopped with us, and said nothing
  return ended.out;
}

std::string find_program(std::string const& name, std::vector<std::string> const& folders) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  char const* const path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "" : path);
  for (std::string folder; std::getline(entries, folder, ':');) {
    if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  for (std::string const& folder : folders) {
    if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

std::string own_path() { return fs::read_symlink("/proc/self/exe"); }

TemporaryFolder::TemporaryFolder() {
  std::string name = fs::temp_directory_path() / "flashpad-profile-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw Error(fmt::format("{}: {}", name, std::strerror(errno)));
  m_path = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(m_path, ignored);
}

std::string text_of(fs::path const& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace flashpad::profile
