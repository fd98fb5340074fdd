// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"

#include "measure/inputs.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace flashpad::app {

void add_check(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand("check", "Check an experiment and list its cases; run nothing");
  auto const arguments = std::make_shared<ExperimentArguments>();
  arguments->add_to(command);
  command.callback([&invocation, arguments] {
    invocation.action = [arguments] {
      Experiment const experiment = arguments->read();
      measure::require_range(experiment.cases);
      fmt::print("{}{}: valid, {} cases\n", list_cases(experiment), experiment.file.string(),
                 experiment.cases.size());
      return static_cast<int>(success);
    };
  });
}

}  // namespace flashpad::app
