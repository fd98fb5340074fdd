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

}  // namespace flashpad
