// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/files.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace flashpad::report {

namespace {

namespace fs = std::filesystem;

fs::path temporary_name(fs::path const& file) {
  fs::path name = file;
  name += fmt::format(".tmp{}", ::getpid());
  return name;
}

[[noreturn]] void refuse(fs::path const& file, std::string const& cause) {
  throw Error(fmt::format("{}: cannot be written: {}", file.string(), cause));
}

void write_whole(fs::path const& file, fs::path const& target, std::string const& text) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "wb"), &std::fclose);
  if (!stream) refuse(target, std::strerror(errno));
  bool const written = std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size();
  int const cause = errno;
  if (std::fclose(stream.release()) != 0 || !written) {
    std::string const why = std::strerror(written ? errno : cause);
    std::error_code ignored;
    fs::remove(file, ignored);
    refuse(target, why);
  }
}

}  // namespace

void require_writable(fs::path const& file) {
  std::error_code error;
  if (file.filename().empty() || fs::is_directory(file, error)) refuse(file, "it is a folder");
  if (file.has_parent_path()) {
    fs::create_directories(file.parent_path(), error);
    if (error) refuse(file, "its folder cannot be created: " + error.message());
  }
  fs::path const probe = temporary_name(file);
  write_whole(probe, file, "");
  fs::remove(probe, error);
}

void write_file(fs::path const& file, std::string const& text) {
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  fs::path const temporary = temporary_name(file);
  write_whole(temporary, file, text);
  fs::rename(temporary, file, error);
  if (error) {
    std::string const why = error.message();
    fs::remove(temporary, error);
    refuse(file, why);
  }
}

}  // namespace flashpad::report
