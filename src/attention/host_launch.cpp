// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/plan_impl.hpp"

namespace flashpad::detail {

std::mutex& host_launch_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace flashpad::detail
