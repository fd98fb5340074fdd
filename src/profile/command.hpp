// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flashpad::profile {

/// A program and its arguments.
using Command = std::vector<std::string>;

/// Another program's words, fit for an error: one line of at most `most` bytes, control characters as \xNN.
std::string brief(std::string_view words, std::size_t most = 200);

/// What a finished program left.
struct Ended {
  int code = 0;  ///< exit code; 128 + signal where one ended it
  std::string out, err;

  /// The first line of standard error that begins as the driver's errors do, or else the last one, brief();
  /// how it ended where there is none.
  [[nodiscard]] std::string reason() const;
};

/// Runs a program to its end, without standard input, in this process's environment with `variables` changed.
/// Throws Error where it cannot be started, or is not done within `limit` and was killed.
Ended run(Command const& command, std::vector<std::pair<std::string, std::string>> const& variables = {},
          std::chrono::milliseconds limit = std::chrono::milliseconds::max());

/// What `program --version` prints, which may take a minute. Throws Interrupted where the user could not
/// wait.
std::string version_text(std::string const& program);

/// The path of a program: `name` itself where it is a path, else the first of PATH and `folders` that has it;
/// empty where none has.
std::string find_program(std::string const& name, std::vector<std::string> const& folders = {});

/// This program's own path.
std::string own_path();

/// A new folder that goes with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;

  [[nodiscard]] std::filesystem::path const& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

/// A file's text; empty where it cannot be read.
std::string text_of(std::filesystem::path const& file);

}  // namespace flashpad::profile
