// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/arguments.hpp"
#include "labs/drill.hpp"
#include "measure/backend.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

namespace flashpad::labs {

namespace {

constexpr char const* help = R"(Usage: drills exercises | solutions [--no-timing]

  exercises    tile loops that are broken on purpose, and what each FAIL teaches (docs/labs.md)
  solutions    the right ones, the library's own kernel beside them, and times of skipping
  --no-timing  after either: leave the times out

Exits with 0 where all end as they have to: a broken loop that passes is as wrong as a right one that fails.
)";

// What was asked of each trial came about; a broken variant that passes where it should not is as bad as a
// right one that fails.
int show(bool exercises, bool with_timing) {
  int count = 0;
  int surprises = 0;
  for (Drill const& drill : {masking_drill(), causal_drill(), rescale_drill()}) {
    fmt::print("{}\n", drill.title);
    for (Trial const& trial : drill.trials) {
      if (trial.exercise != exercises) continue;
      Finding const finding = judge(trial);
      ++count;
      surprises += finding.as_expected ? 0 : 1;
      fmt::print("{}", line(trial, finding));
    }
    if (!exercises && with_timing && drill.timings) fmt::print("{}", drill.timings());
    fmt::print("\n");
  }
  fmt::print("{} of {} as expected{}\n", count - surprises, count,
             exercises ? ": each FAIL is a lesson" : ": the right ones pass");
  return surprises == 0 ? 0 : 1;
}

}  // namespace

}  // namespace flashpad::labs

int main(int argc, char** argv) {
  std::string_view const list = argc > 1 ? argv[1] : "";
  if (argc == 2 && (list == "--help" || list == "-h")) {
    fmt::print("{}", flashpad::labs::help);
    return 0;
  }
  bool const with_timing = argc < 3;
  bool const known = (list == "exercises" || list == "solutions") && argc <= 3 &&
                     (with_timing || std::string_view(argv[2]) == "--no-timing");
  if (!known) {
    fmt::print(stderr,
               "drills: error: found {}; allowed: exercises or solutions, and --no-timing after it (see "
               "drills --help)\n",
               argc > 1 ? argv[argc - 1] : "no arguments");
    return 2;
  }
  if (!flashpad::labs::can_start()) {
    fmt::print("SKIPPED: this Kokkos needs a GPU, and there is none here\n");
    return 77;
  }
  try {
    flashpad::kokkos_ext::KokkosGuard const kokkos({});
    int const code = flashpad::labs::show(list == "exercises", with_timing);
    flashpad::measure::release_backends();
    if (std::fflush(stdout) == 0) return code;
    fmt::print(stderr, "drills: error: standard output: cannot be written: {}\n", std::strerror(errno));
    return 1;
  } catch (std::exception const& error) {
    fmt::print(stderr, "drills: error: {}\n", error.what());
    return 2;
  }
}
