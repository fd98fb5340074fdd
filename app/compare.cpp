// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"
#include "number_check.hpp"

#include <flashpad/error.hpp>

#include "compare/compare.hpp"
#include "compare/context_difference.hpp"
#include "compare/text.hpp"
#include "report/files.hpp"
#include "report/printable.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>

namespace flashpad::app {

namespace {

struct CompareArguments {
  std::vector<std::string> files;
  std::string fail_if_slower, filter, by, json;
  double alpha = 0.05;
};

// "5", "5%" and "2.5 %" alike.
double share_of(std::string const& text) {
  std::size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (std::exception const&) {
    end = 0;
  }
  std::string const rest = text.substr(end);
  bool const percent = rest.empty() || rest == "%" || rest == " %";
  if (end == 0 || !percent || !std::isfinite(value) || value < 0) {
    throw Error(fmt::format("--fail-if-slower: is `{}`; allowed: a percentage from 0, as in 5%",
                            report::printable(text)));
  }
  return value / 100;
}

void require_own_file(CompareArguments const& arguments) {
  if (arguments.json.empty()) return;
  for (std::string const& file : arguments.files) {
    if (report::target_of(file) == report::target_of(arguments.json)) {
      throw Error(fmt::format("--json: {} is one of the files compared; allowed: another", arguments.json));
    }
  }
  report::require_writable(arguments.json);
}

int compare_files(CompareArguments const& arguments) {
  compare::Rules rules;
  rules.alpha = arguments.alpha;
  rules.filter = arguments.filter;
  rules.by = arguments.by;
  if (!arguments.fail_if_slower.empty()) rules.fail_if_slower = share_of(arguments.fail_if_slower);
  if (arguments.files.size() < 2 && rules.by.empty()) {
    throw Error("FILES: is one file; allowed: two or more, or one with --by (as in --by kernel)");
  }
  std::vector<compare::Measurements> files;
  for (std::string const& file : arguments.files) files.push_back(compare::measurements(results::read(file)));
  compare::Comparison const comparison = compare::compare(files, rules);
  std::vector<compare::Difference> const differences = compare::differences(files);
  require_own_file(arguments);
  if (!arguments.json.empty()) {
    nlohmann::ordered_json const json = compare::document(files, differences, comparison);
    report::write_file(arguments.json,
                       json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
  }
  fmt::print("{}", compare::text(files, differences, comparison, rules));
  std::vector<std::string> const broken = compare::broken(comparison, rules);
  if (!rules.fail_if_slower) return success;
  fmt::print("{} of {} cases break the line of {:g} % slower{}\n", broken.size(), comparison.lines.size(),
             100 * *rules.fail_if_slower, broken.empty() ? "" : ":");
  for (std::string const& line : broken) fmt::print("  {}\n", line);
  return broken.empty() ? success : failed;
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand("compare",
                                          "Compare results of run, bench, tune, profile, bench_host.py or "
                                          "gpu_peers.py with those of the first file, "
                                          "case by case");
  auto const arguments = std::make_shared<CompareArguments>();
  command
      .add_option("FILES", arguments->files,
                  "JSON of flashpad run, bench, tune (its winners) or profile, scripts/bench_host.py or "
                  "scripts/gpu_peers.py; the first is what the others are compared with")
      ->required();
  command
      .add_option("--fail-if-slower", arguments->fail_if_slower,
                  "Exit with 1 where a case is significantly slower than this, lost or failed")
      ->type_name("PERCENT")
      ->check(not_empty);
  command.add_option("--filter", arguments->filter, "Compare only the cases whose name contains this")
      ->type_name("TEXT")
      ->check(not_empty);
  command
      .add_option(
          "--by", arguments->by,
          "Compare by a name of the rows in place of by file: kernel, backend, engine, dtype, mask, ...")
      ->type_name("NAME")
      ->check(not_empty);
  command
      .add_option("--alpha", arguments->alpha,
                  "A difference is one where chance makes it less often than this")
      ->check(number_between(1e-9, 0.5))
      ->capture_default_str();
  command.add_option("--json", arguments->json, "Write the comparison here as well")
      ->type_name("FILE")
      ->check(not_empty);
  command.callback(
      [&invocation, arguments] { invocation.action = [arguments] { return compare_files(*arguments); }; });
}

}  // namespace flashpad::app
