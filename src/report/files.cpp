// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/files.hpp"

#include <flashpad/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

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

// What stands in the way of a regular file, if anything.
std::string_view obstacle(fs::path const& target) {
  std::error_code error;
  switch (fs::status(target, error).type()) {
    case fs::file_type::directory: return "a folder";
    case fs::file_type::block:
    case fs::file_type::character: return "a device";
    case fs::file_type::fifo: return "a FIFO";
    case fs::file_type::socket: return "a socket";
    default: return "";
  }
}

void require_regular(fs::path const& file, fs::path const& target) {
  std::string_view found = target.filename().empty() ? "a folder" : obstacle(target);
  // /dev/stdout and its like lead here, also where they end at a file that something else writes to.
  std::string const path = target.string();
  if (path.starts_with("/proc/")) {
    found = path.find("/fd/") == std::string::npos ? "in /proc, where nothing can be kept" : "an open stream";
  }
  if (!found.empty()) refuse(file, fmt::format("it is {}; allowed: a regular file, or a new name", found));
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

fs::path target_of(fs::path const& file) {
  constexpr int most_links = 40;  // as many as Linux follows
  std::error_code error;
  fs::path target = fs::absolute(file);
  for (int links = 0;; ++links) {
    fs::path const folder = fs::weakly_canonical(target.parent_path(), error);
    target = (error ? target.parent_path().lexically_normal() : folder) / target.filename();
    if (target.string().starts_with("/proc/") || !fs::is_symlink(target, error)) return target;
    if (links == most_links) refuse(file, "its symbolic links go round in a circle");
    target = target.parent_path() / fs::read_symlink(target, error);
  }
}

bool waits_for_writer(fs::path const& file) {
  std::error_code error;
  std::string const path = file.string();
  return fs::is_fifo(file, error) && !path.starts_with("/dev/") && !path.starts_with("/proc/");
}

void require_writable(fs::path const& file) {
  fs::path const target = target_of(file);
  require_regular(file, target);
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (error) refuse(file, "its folder cannot be created: " + error.message());
  fs::path const probe = temporary_name(target);
  write_whole(probe, file, "");
  fs::remove(probe, error);
}

void write_file(fs::path const& file, std::string const& text) {
  fs::path const target = target_of(file);
  require_regular(file, target);
  std::error_code error;
  fs::create_directories(target.parent_path(), error);  // where it fails, so does writing
  fs::path const temporary = temporary_name(target);
  write_whole(temporary, file, text);
  fs::rename(temporary, target, error);
  if (error) {
    std::string const why = error.message();
    fs::remove(temporary, error);
    refuse(file, why);
  }
}

}  // namespace flashpad::report
