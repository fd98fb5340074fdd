// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <sys/types.h>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace flashpad::cli {

/// What a finished program left.
struct Finished {
  int code = -1;  ///< exit code; 128 + signal where one ended it
  std::string out, err;
};

/// Runs the driver in a folder of the test's own, output and error going to files (never a terminal).
class Cli : public ::testing::Test {
 protected:
  Cli();
  ~Cli() override;

  /// Writes an experiment (or any file) into the folder.
  void write(std::string const& file, std::string const& text) const;
  Finished flashpad(std::vector<std::string> const& arguments) const;
  pid_t start(std::vector<std::string> const& arguments) const;
  Finished wait_for(pid_t process) const;
  /// As flashpad(), with standard output going to a file of the system's.
  Finished flashpad_into(std::string const& out, std::vector<std::string> const& arguments) const;
  /// As flashpad(), after `prepare` in the process that becomes the driver: it may close or turn its streams.
  Finished flashpad_after(std::function<void()> const& prepare,
                          std::vector<std::string> const& arguments) const;
  /// As flashpad(), with these variables in the environment.
  Finished flashpad_with(std::vector<std::pair<std::string, std::string>> const& variables,
                         std::vector<std::string> const& arguments) const;
  /// As flashpad(), with all output going to a terminal, COLUMNS wide, and from there into `out`.
  Finished flashpad_on_terminal(std::vector<std::string> const& arguments) const;

  [[nodiscard]] bool exists(std::string const& file) const;
  [[nodiscard]] std::string read(std::string const& file) const;
  [[nodiscard]] nlohmann::json json(std::string const& file) const;
  /// Names in the folder, sorted, without what the tests themselves write.
  [[nodiscard]] std::vector<std::string> left_behind() const;

  std::filesystem::path m_folder;
  mutable std::vector<std::string> m_own;
};

/// With small.yaml in the folder: four cases that take no time, written to results/small.{json,csv}.
class SmallCli : public Cli {
 protected:
  SmallCli();

  static char const* const small;
};

/// One line on standard error that begins as every error does.
void expect_one_error_line(Finished const& finished);

}  // namespace flashpad::cli
