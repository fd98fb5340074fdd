// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/row.hpp"

namespace flashpad {

std::string_view name(Status status) noexcept {
  switch (status) {
    case Status::ok: return "ok";
    case Status::failed: return "failed";
    case Status::oom: return "oom";
    case Status::skipped: return "skipped";
  }
  return "?";
}

void add_note(Row& row, std::string const& text) {
  if (text.empty()) return;
  if (!row.reason.empty()) row.reason += "; ";
  row.reason += text;
}

void add_cause(Row& row, std::string const& text) {
  row.reason = row.reason.empty() ? text : text + "; " + row.reason;
}

}  // namespace flashpad
