// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/files.hpp"

#include <flashpad/error.hpp>

#include <gmock/gmock.h>
#include <sys/stat.h>
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
    EXPECT_THAT(error.what(), ::testing::HasSubstr("allowed: a regular file"));
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

TEST_F(Files, RefuseWhatIsNoRegularFile) {
  fs::path const fifo = m_folder / "fifo";
  fs::path const link = m_folder / "link";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink(fifo, link);
  for (fs::path const& file :
       {fifo, link, fs::path("/dev/null"), fs::path("/dev/stdout"), fs::path("/dev/fd/1")}) {
    EXPECT_THROW(require_writable(file), Error) << file;
    EXPECT_THROW(write_file(file, "x"), Error) << file;
  }
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(entries(m_folder), 2);
}

TEST_F(Files, ASymbolicLinkStaysAndItsTargetIsWritten) {
  fs::create_directories(m_folder / "there");
  write_file(m_folder / "there" / "old", "old");
  fs::create_symlink("there/old", m_folder / "to_old");
  fs::create_symlink("there/new", m_folder / "to_new");
  fs::create_symlink(m_folder / "to_new", m_folder / "to_link");
  for (auto const& [link, target] : {std::pair{"to_old", "old"}, std::pair{"to_link", "new"}}) {
    EXPECT_EQ(target_of(m_folder / link), fs::canonical(m_folder) / "there" / target);
    require_writable(m_folder / link);
    write_file(m_folder / link, link);
    EXPECT_TRUE(fs::is_symlink(m_folder / link));
    EXPECT_EQ(read(m_folder / "there" / target), link);
  }
  EXPECT_EQ(entries(m_folder / "there"), 2);
}

TEST_F(Files, RefuseLinksInACircle) {
  fs::create_symlink("b", m_folder / "a");
  fs::create_symlink("a", m_folder / "b");
  EXPECT_THROW(require_writable(m_folder / "a"), Error);
  EXPECT_THROW(write_file(m_folder / "a", "x"), Error);
  EXPECT_EQ(entries(m_folder), 2);
}

}  // namespace
}  // namespace flashpad::report
