// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"

#include <flashpad/error.hpp>

#include "kokkos_ext/arguments.hpp"
#include "measure/context.hpp"
#include "measure/interrupt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

namespace flashpad::app {
namespace {

// A file that is opened while standard output is closed gets its number, and what is printed with it. In its
// place stands one that cannot be written, so that what is printed is lost and known to be.
void occupy_standard_streams() {
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free: this stream's, as those below are taken.
    open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// What is still buffered may be lost on a full disk or a closed pipe: that is no success.
int finish(int code) {
  errno = 0;
  std::cout.flush();
  bool const lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!lost) return code;
  int const cause = errno;
  report_error(failed, fmt::format("standard output: cannot be written{}{}", cause == 0 ? "" : ": ",
                                   cause == 0 ? "" : std::strerror(cause)));
  return code == success ? failed : code;
}

// Kokkos and Google Benchmark have flags of their own; CLI11 gets the rest.
std::vector<std::string> take_library_flags(int argc, char** argv, Invocation& invocation) {
  std::vector<std::string> rest;
  for (int i = 0; i < argc; ++i) {
    std::string const argument = argv[i];
    invocation.command_line.push_back(argument);
    if (i == 0) continue;
    if (kokkos_ext::is_kokkos_flag(argument)) {
      invocation.kokkos_flags.push_back(argument);
    } else if (argument.starts_with("--benchmark_")) {
      invocation.benchmark_flags.push_back(argument);
    } else {
      rest.push_back(argument);
    }
  }
  return rest;
}

// CLI11 would say that a command is missing, and not that this is none.
void require_command(CLI::App const& app, std::vector<std::string> const& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return;
  std::vector<std::string> names;
  for (CLI::App const* command : app.get_subcommands([](CLI::App const*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), arguments.front()) != names.end()) return;
  throw Error(fmt::format("`{}` is no command; allowed: {}", arguments.front(), fmt::join(names, ", ")));
}

int main(int argc, char** argv) {
  occupy_standard_streams();
  Invocation invocation;
  std::vector<std::string> arguments = take_library_flags(argc, argv, invocation);

  CLI::App app("Flashpad: exact attention on Kokkos, verified, timed and counted", "flashpad");
  app.require_subcommand(1);
  app.set_version_flag("--version", measure::version_line());
  app.footer(
      "Flags of Kokkos (--kokkos-...) are passed on; `flashpad bench` also takes --benchmark_... flags.");
  add_run(app, invocation);
  add_bench(app, invocation);
  add_info(app, invocation);
  add_check(app, invocation);
  add_compare(app, invocation);
  add_explain(app, invocation);
  add_profile(app, invocation);
  add_tune(app, invocation);
  add_report(app, invocation);

  try {
    kokkos_ext::check_kokkos_flags(invocation.kokkos_flags);
    if (kokkos_ext::asks_for_help(invocation.kokkos_flags)) {
      kokkos_ext::KokkosGuard const prints_it(invocation.kokkos_flags);
      return finish(success);
    }
    require_command(app, arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
    if (!invocation.benchmark_flags.empty() && !app.got_subcommand("bench")) {
      return report_error(usage, fmt::format("{}: only `flashpad bench` takes flags of Google Benchmark",
                                             invocation.benchmark_flags.front()));
    }
    return finish(invocation.action());
  } catch (CLI::ParseError const& parse_error) {
    if (parse_error.get_exit_code() == 0) return finish(app.exit(parse_error));  // --help, --version
    return report_error(usage, fmt::format("{} (see flashpad --help)", parse_error.what()));
  } catch (measure::Interrupted const&) {
    return report_error(interrupted_exit(), "interrupted");
  } catch (Error const& refused) {
    return report_error(usage, refused.what());
  } catch (std::exception const& unexpected) {
    // Kokkos adds its stack. (A line break in a message of ours is of a name that was given.)
    std::string const text = unexpected.what();
    return report_error(failed, text.substr(0, text.find('\n')));
  }
}

}  // namespace
}  // namespace flashpad::app

int main(int argc, char** argv) { return flashpad::app::main(argc, argv); }
