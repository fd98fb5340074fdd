// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "profile/command.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace flashpad::profile {

/// A shell script in a folder of its own, in the place of a profiler.
class Script {
 public:
  explicit Script(std::string const& text, std::string const& name = "profiler")
      : m_file(m_folder.path() / name) {
    std::ofstream(m_file) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(m_file, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string path() const { return m_file; }
  [[nodiscard]] std::string folder() const { return m_folder.path(); }

 private:
  TemporaryFolder m_folder;
  std::filesystem::path m_file;
};

/// What `f` throws of type Exception, as text.
template <class Exception, class F>
std::string message_of(F const& f) {
  try {
    f();
  } catch (Exception const& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace flashpad::profile
