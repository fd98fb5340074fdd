// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace flashpad::html_report {

/// Throws Error where rsvg-convert, which draws the pixels, is not in the PATH.
void require_converter();

/// The drawing in twice its pixels. The file appears whole or not at all. Throws Error that names it and the
/// cause.
void write_png(std::filesystem::path const& file, std::string const& svg);

}  // namespace flashpad::html_report
