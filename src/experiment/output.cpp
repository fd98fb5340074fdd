// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/diagnostics.hpp"
#include "experiment/scalars.hpp"
#include "experiment/settings.hpp"

#include "report/files.hpp"

#include <flashpad/error.hpp>

#include <map>
#include <string_view>
#include <utility>

namespace flashpad::sweep {

namespace {

using yaml::Node;

constexpr std::string_view placeholder = "{case}";

/// Files by their full names, each with what it is for.
using Files = std::map<std::filesystem::path, std::string>;

std::string with_case(std::string pattern, std::string const& name) {
  for (std::size_t i = pattern.find(placeholder); i != std::string::npos;
       i = pattern.find(placeholder, i + name.size())) {
    pattern.replace(i, placeholder.size(), name);
  }
  return pattern;
}

std::size_t count_placeholders(std::string const& pattern) {
  std::size_t count = 0;
  for (std::size_t i = pattern.find(placeholder); i != std::string::npos;
       i = pattern.find(placeholder, i + 1))
    ++count;
  return count;
}

/// What the experiment reads: no result may replace it.
Files files_read(Experiment const& experiment) {
  Files files;
  files.emplace(report::target_of(experiment.file), "the experiment itself");
  if (experiment.cases.front().tensors) {
    TensorFiles const& tensors = *experiment.cases.front().tensors;
    files.emplace(report::target_of(tensors.q), "problem.tensors.q");
    files.emplace(report::target_of(tensors.k), "problem.tensors.k");
    files.emplace(report::target_of(tensors.v), "problem.tensors.v");
  }
  return files;
}

/// Empty, or why the file cannot have this use.
std::string conflict(Files& files, std::string const& file, std::string const& use) {
  auto const [taken, is_free] = files.emplace(report::target_of(file), use);
  return is_free ? "" : "'" + file + "' is also " + taken->second + "; allowed: a file of its own";
}

void claim(Files& files, std::string const& file, std::string const& use, Node const& node,
           std::string const& path) {
  std::string const why = conflict(files, file, use);
  if (!why.empty()) fail(node.at, path, why);
}

void claim_option(Files& files, std::string const& file, std::string const& option) {
  std::string const why = conflict(files, file, option);
  if (!why.empty()) throw Error(option + ": " + why);
}

constexpr std::string_view report_allowed = "a file name without braces; all cases go to one file";

bool has_braces(std::string const& file) { return file.find_first_of("{}") != std::string::npos; }

void replace_report(std::filesystem::path& report, std::string const& file, std::string const& option) {
  if (file.empty()) return;
  if (has_braces(file)) {
    throw Error(option + ": found '" + yaml::printable(file) + "'; allowed: " + std::string(report_allowed));
  }
  report = file;
}

std::filesystem::path read_report(Node const& node, std::string const& path, Files& files) {
  std::string const file = read_text_value(node, path);
  if (has_braces(file)) fail_found(node, path, report_allowed);
  claim(files, file, path, node, path);
  return file;
}

std::filesystem::path read_result(Node const& node, std::string const& path, std::vector<Case> const& cases,
                                  Files& files) {
  std::string const pattern = read_text_value(node, path);
  std::size_t const placeholders = count_placeholders(pattern);
  std::string const without = with_case(pattern, "");
  if (without.find_first_of("{}") != std::string::npos) {
    fail_found(node, path, "a file name with no other braces than {case}");
  }
  if (cases.size() > 1 && placeholders == 0) {
    fail_found(node, path,
               "a file name with {case} in it, as there are " + std::to_string(cases.size()) + " cases");
  }
  if (!pattern.ends_with(".npy")) fail_found(node, path, "a file name that ends in .npy");
  for (Case const& c : cases) claim(files, with_case(pattern, c.name), path + " of " + c.name, node, path);
  return pattern;
}

}  // namespace

void read_output(Node const& root, Experiment& experiment) {
  Node const* output = root.find("output");
  if (output == nullptr) return;
  require_map(*output, "output", {"json", "csv", "o", "lse"});

  Files files = files_read(experiment);
  if (Node const* json = output->find("json"))
    experiment.output.json = read_report(*json, "output.json", files);
  if (Node const* csv = output->find("csv")) experiment.output.csv = read_report(*csv, "output.csv", files);
  if (Node const* o = output->find("o"))
    experiment.output.o = read_result(*o, "output.o", experiment.cases, files);
  if (Node const* lse = output->find("lse")) {
    experiment.output.lse = read_result(*lse, "output.lse", experiment.cases, files);
  }
}

}  // namespace flashpad::sweep

namespace flashpad {

void replace_reports(Experiment& experiment, std::string const& json, std::string const& csv) {
  Output& output = experiment.output;
  sweep::replace_report(output.json, json, "--json");
  sweep::replace_report(output.csv, csv, "--csv");
  sweep::Files files = sweep::files_read(experiment);
  for (Case const& one : experiment.cases) {
    for (auto const& [file, use] : {std::pair{&output.o, "output.o of "}, {&output.lse, "output.lse of "}}) {
      if (!file->empty()) files.emplace(report::target_of(sweep::with_case(*file, one.name)), use + one.name);
    }
  }
  if (!output.json.empty()) sweep::claim_option(files, output.json, json.empty() ? "output.json" : "--json");
  if (!output.csv.empty()) sweep::claim_option(files, output.csv, csv.empty() ? "output.csv" : "--csv");
}

void require_own_file(Experiment const& experiment, std::string const& option, std::string const& file) {
  sweep::Files files = sweep::files_read(experiment);
  sweep::claim_option(files, file, option);
}

}  // namespace flashpad
