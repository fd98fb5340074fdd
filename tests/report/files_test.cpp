// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/files.hpp"

#include <flashpad/error.hpp>

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace flashpad::report {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() : m_folder(fs::temp_directory_path() / ("flashpad-files-" + std::to_string(::getpid()))) {
    fs::remove_all(m_folder);
    fs::create_directories(m_folder);
  }
  ~Files() override { fs::remove_all(m_folder); }

  static std::string read(fs::path const& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static auto entries(fs::path const& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }

  fs::path m_folder;
};

TEST_F(Files, WritesWholeAndLeavesNothingElse) {
  fs::path const file = m_folder / "a" / "b.json";
  write_file(file, "one\n");
  write_file(file, "two\n");
  EXPECT_EQ(read(file), "two\n");
  EXPECT_EQ(entries(file.parent_path()), 1);
}

TEST_F(Files, ProbeCreatesTheFolderAndNoFile) {
  require_writable(m_folder / "new" / "r.json");
  EXPECT_TRUE(fs::is_directory(m_folder / "new"));
  EXPECT_EQ(entries(m_folder / "new"), 0);
}

TEST_F(Files, RefuseAFolderAsTarget) {
  fs::create_directories(m_folder / "r.json");
  try {
    require_writable(m_folder / "r.json");
    FAIL() << "a folder was taken for a file";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr((m_folder / "r.json").string()));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("is a folder"));
  }
  EXPECT_THROW(write_file(m_folder / "r.json", "x"), Error);
  EXPECT_EQ(entries(m_folder), 1) << "the temporary file stayed behind";
}

TEST_F(Files, RefuseAFileAsFolder) {
  write_file(m_folder / "plain", "x");
  EXPECT_THROW(require_writable(m_folder / "plain" / "r.json"), Error);
  EXPECT_THROW(write_file(m_folder / "plain" / "r.json", "y"), Error);
  EXPECT_EQ(read(m_folder / "plain"), "x");
}

}  // namespace
}  // namespace flashpad::report
