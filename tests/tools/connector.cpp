// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// A connector for Kokkos' tools, as short as one can be: writes what it is told to the file that
// FLASHPAD_CONNECTOR_LOG names, a line an event, and answers what it is asked with the last of the allowed
// values. It includes no Kokkos, as any other connector.

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

// Of the tuning interface, as far as it is looked at here; the layout is Kokkos'.
union Value {
  std::int64_t number;
  double real;
  char text[64];
};
struct Information {
  int type, category, quantity;
  std::size_t candidates;
  std::int64_t const* values;
};
struct Variable {
  std::size_t id;
  Value value;
  Information const* information;
};

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

CONNECTOR kokkosp_declare_input_type(char const* name, std::size_t, Information*) { write("input", name); }
CONNECTOR kokkosp_declare_output_type(char const* name, std::size_t, Information const* information) {
  std::fprintf(log_file(), "output %s %zu\n", name, information->candidates);
}
CONNECTOR kokkosp_request_values(std::size_t, std::size_t inputs, Variable const* input, std::size_t outputs,
                                 Variable* output) {
  std::fprintf(log_file(), "ask");
  for (std::size_t i = 0; i < inputs; ++i) std::fprintf(log_file(), " %s", input[i].value.text);
  for (std::size_t i = 0; i < outputs; ++i) {
    Information const& allowed = *output[i].information;
    output[i].value.number = allowed.values[allowed.candidates - 1];
  }
  std::fprintf(log_file(), "\n");
}
CONNECTOR kokkosp_end_context(std::size_t, Variable goal) {
  std::fprintf(log_file(), "told %.17g\n", goal.value.real);
  std::fflush(log_file());
}
