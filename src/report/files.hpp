// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace flashpad::report {

/// Makes sure, before anything is measured, that a result can be written to `file`: creates its folder and
/// tries a file in it. Throws Error that names the file and the cause.
void require_writable(std::filesystem::path const& file);

/// The file appears whole under its name or not at all. Throws Error.
void write_file(std::filesystem::path const& file, std::string const& text);

}  // namespace flashpad::report
