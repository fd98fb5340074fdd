// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace flashpad::report {

/// The file that is written where `file` is asked for: absolute, symbolic links followed, whether or not it
/// is there. Throws Error where links go round in a circle.
std::filesystem::path target_of(std::filesystem::path const& file);

/// Makes sure, before anything is measured, that a result can be written to `file`: creates its folder and
/// tries a file in it. What is there already has to be a regular file: a device, a FIFO, a socket or an open
/// stream would be replaced by one. Throws Error that names the file and the cause.
void require_writable(std::filesystem::path const& file);

/// Whether opening `file` for reading would wait until somebody writes, for ever if need be: a FIFO. What the
/// shell opened, as for <(...) and behind /dev/stdin, has its writer.
bool waits_for_writer(std::filesystem::path const& file);

/// The file appears whole under its name or not at all; where that is a symbolic link, what it leads to does.
/// Throws Error, as require_writable.
void write_file(std::filesystem::path const& file, std::string const& text);

}  // namespace flashpad::report
