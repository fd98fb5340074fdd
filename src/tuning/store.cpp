// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/store.hpp"

#include "report/files.hpp"

#include <flashpad/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace flashpad::tuning {

namespace {

/// Held by one process at a time; the system gives it back however the process ends.
class Lock {
 public:
  explicit Lock(std::string const& file) {
    m_descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    while (m_descriptor >= 0 && ::flock(m_descriptor, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      ::close(m_descriptor);
      m_descriptor = -1;
    }
    if (m_descriptor < 0) throw Error(fmt::format("{}: cannot be locked: {}", file, std::strerror(errno)));
  }
  Lock(Lock const&) = delete;
  Lock& operator=(Lock const&) = delete;
  ~Lock() { ::close(m_descriptor); }

 private:
  int m_descriptor;
};

}  // namespace

std::vector<std::string> store(std::string const& file, std::string const& version, Entry const& entry) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(file).parent_path(), error);
  Lock const lock(file + ".lock");
  Cache cache = read_cache(file, version);
  bool const whole = !cache.refused.empty() && cache.refused.front().starts_with(file + ": refused");
  if (whole) {
    std::filesystem::rename(file, file + ".refused", error);
    if (error)
      throw Error(fmt::format("{}: cannot be set aside: {}", cache.refused.front(), error.message()));
    cache.refused.front() += fmt::format("; kept as {}.refused", file);
  }
  cache.entries[entry.key] = entry;
  report::write_file(file, cache_text(cache));
  return cache.refused;
}

}  // namespace flashpad::tuning
