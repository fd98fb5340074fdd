// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

// The files of assets/, as cmake/Embed.cmake put them into the program.

namespace flashpad::html_report::assets {

extern std::string_view const page_html;
extern std::string_view const page_css;
extern std::string_view const figure_css;
extern std::string_view const page_js;

}  // namespace flashpad::html_report::assets
