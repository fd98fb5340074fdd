// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"
#include "test_paths.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace flashpad::cli {

namespace fs = std::filesystem;

namespace {

std::string whole(fs::path const& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

[[noreturn]] void become_driver(fs::path const& folder, std::vector<std::string> const& arguments) {
  std::vector<char*> argv = {const_cast<char*>(FLASHPAD_CLI)};
  for (std::string const& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  if (chdir(folder.c_str()) == 0) execv(FLASHPAD_CLI, argv.data());
  _exit(127);
}

void send_output_to_files(fs::path const& folder) {
  int const out = open((folder / ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int const err = open((folder / ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
}

}  // namespace

Cli::Cli() {
  std::string name = (fs::temp_directory_path() / "flashpad-cli-XXXXXX").string();
  m_folder = mkdtemp(name.data());
}

Cli::~Cli() { fs::remove_all(m_folder); }

void Cli::write(std::string const& file, std::string const& text) const {
  m_own.push_back(file);
  std::ofstream(m_folder / file, std::ios::binary) << text;
}

pid_t Cli::start(std::vector<std::string> const& arguments) const {
  pid_t const process = fork();
  if (process == 0) {
    send_output_to_files(m_folder);
    become_driver(m_folder, arguments);
  }
  return process;
}

Finished Cli::flashpad_on_terminal(std::vector<std::string> const& arguments) const {
  char const* const columns = std::getenv("COLUMNS");
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns == nullptr ? 0 : std::atoi(columns));
  int terminal = -1;
  pid_t const process = forkpty(&terminal, nullptr, nullptr, &size);
  if (process == 0) become_driver(m_folder, arguments);
  std::string shown;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof(buffer))) > 0;) {
    shown.append(buffer, static_cast<std::size_t>(got));
  }
  close(terminal);
  int status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, shown, ""};
}

Finished Cli::wait_for(pid_t process) const {
  int status = 0;
  Finished finished;
  if (waitpid(process, &status, 0) == process) {
    finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  finished.out = whole(m_folder / ".out");
  finished.err = whole(m_folder / ".err");
  return finished;
}

Finished Cli::flashpad_after(std::function<void()> const& prepare,
                             std::vector<std::string> const& arguments) const {
  pid_t const process = fork();
  if (process == 0) {
    send_output_to_files(m_folder);
    prepare();
    become_driver(m_folder, arguments);
  }
  return wait_for(process);
}

Finished Cli::flashpad_with(std::vector<std::pair<std::string, std::string>> const& variables,
                            std::vector<std::string> const& arguments) const {
  return flashpad_after(
      [&] {
        for (auto const& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      },
      arguments);
}

Finished Cli::flashpad_into(std::string const& out, std::vector<std::string> const& arguments) const {
  return flashpad_after(
      [&] {
        int const file = open(out.c_str(), O_WRONLY);
        if (file < 0 || dup2(file, 1) < 0) _exit(126);
      },
      arguments);
}

Finished Cli::flashpad(std::vector<std::string> const& arguments) const { return wait_for(start(arguments)); }

bool Cli::exists(std::string const& file) const { return fs::exists(m_folder / file); }

std::string Cli::read(std::string const& file) const { return whole(m_folder / file); }

nlohmann::json Cli::json(std::string const& file) const { return nlohmann::json::parse(read(file)); }

std::vector<std::string> Cli::left_behind() const {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(m_folder)) {
    std::string const name = entry.path().filename().string();
    if (name != ".out" && name != ".err" && std::find(m_own.begin(), m_own.end(), name) == m_own.end()) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_one_error_line(Finished const& finished) {
  // Kokkos may warn about unbound threads before; the last line is ours.
  std::string const& text = finished.err;
  ASSERT_FALSE(text.empty()) << "no error message";
  EXPECT_EQ(text.back(), '\n');
  std::size_t const begin = text.rfind('\n', text.size() - 2);
  std::string const last = text.substr(begin == std::string::npos ? 0 : begin + 1);
  EXPECT_EQ(last.rfind("flashpad: error: ", 0), 0u) << text;
  EXPECT_EQ(text.find("flashpad: error: "), text.size() - last.size()) << "more than one error:\n" << text;
}

char const* const SmallCli::small = R"(name: small
problem:
  batch: 1
  heads: 1
  seq: [64, 96]
  head_dim: 32
  dtype: fp32
kernels: [naive, fused]
timing: {warmup: 1, repetitions: 3, cache: warm}
output: {json: results/small.json, csv: results/small.csv}
)";

SmallCli::SmallCli() { write("small.yaml", small); }

}  // namespace flashpad::cli
