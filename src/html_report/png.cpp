// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/png.hpp"

#include <flashpad/error.hpp>

#include "report/files.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

namespace flashpad::html_report {

namespace {

namespace fs = std::filesystem;

constexpr char const* converter = "rsvg-convert";

// What the converter says for itself goes to standard error; its exit code is returned.
int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int const error = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0) throw Error(fmt::format("{}: cannot be started: {}", words[0], std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw Error(fmt::format("{}: is lost: {}", words[0], std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

void require_converter() {
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / converter).c_str(), X_OK) == 0) return;
  }
  throw Error(
      fmt::format("--png: {} is not in the PATH; on Debian and Ubuntu `apt-get install librsvg2-bin` "
                  "brings it, and --svg needs nothing",
                  converter));
}

void write_png(fs::path const& file, std::string const& svg) {
  report::require_writable(file);
  fs::path source = report::target_of(file);
  source += fmt::format(".tmp{}.svg", ::getpid());
  fs::path image = report::target_of(file);
  image += fmt::format(".tmp{}.png", ::getpid());
  report::write_file(source, svg);
  int const code = run({converter, "--zoom=2", "--output=" + image.string(), source.string()});
  std::error_code error;
  fs::remove(source, error);
  if (code == 0) fs::rename(image, report::target_of(file), error);
  if (code != 0 || error) {
    std::string const why = code != 0 ? fmt::format("{} ended with {}", converter, code) : error.message();
    fs::remove(image, error);
    throw Error(fmt::format("{}: cannot be written: {}", file.string(), why));
  }
}

}  // namespace flashpad::html_report
