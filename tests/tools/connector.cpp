// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// A connector for Kokkos' tools, as short as one can be: writes what it is told to the file that
// FLASHPAD_CONNECTOR_LOG names, a line an event. It includes no Kokkos, as any other connector.

namespace {

std::FILE* log_file() {
  static std::FILE* const file = [] {
    char const* const name = std::getenv("FLASHPAD_CONNECTOR_LOG");
    return std::fopen(name == nullptr ? "/dev/null" : name, "w");
  }();
  return file;
}

void write(char const* event, char const* name) {
  std::fprintf(log_file(), "%s %s\n", event, name);
  std::fflush(log_file());
}

}  // namespace

#define CONNECTOR extern "C" __attribute__((visibility("default"))) void

CONNECTOR kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) { write("init", ""); }
CONNECTOR kokkosp_finalize_library() { write("finalize", ""); }
CONNECTOR kokkosp_begin_parallel_for(char const* name, std::uint32_t, std::uint64_t*) {
  write("kernel", name);
}
CONNECTOR kokkosp_begin_parallel_reduce(char const* name, std::uint32_t, std::uint64_t*) {
  write("kernel", name);
}
CONNECTOR kokkosp_begin_parallel_scan(char const* name, std::uint32_t, std::uint64_t*) {
  write("kernel", name);
}
CONNECTOR kokkosp_push_profile_region(char const* name) { write("push", name); }
CONNECTOR kokkosp_pop_profile_region() { write("pop", ""); }
