// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace flashpad::results {

/// Files with the texts that a test gives them, in a folder of its own.
class JsonFiles : public ::testing::Test {
 protected:
  JsonFiles()
      : m_folder(std::filesystem::temp_directory_path() /
                 ("flashpad-results-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(m_folder);
    std::filesystem::create_directories(m_folder);
  }
  ~JsonFiles() override { std::filesystem::remove_all(m_folder); }

  [[nodiscard]] std::filesystem::path file(std::string const& text,
                                           std::string const& name = "r.json") const {
    std::ofstream(m_folder / name, std::ios::binary) << text;
    return m_folder / name;
  }

  std::filesystem::path m_folder;
};

}  // namespace flashpad::results
