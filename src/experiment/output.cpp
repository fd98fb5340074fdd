// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/diagnostics.hpp"
#include "experiment/scalars.hpp"
#include "experiment/settings.hpp"

#include <map>
#include <utility>

namespace flashpad::sweep {

namespace {

using yaml::Node;

constexpr std::string_view placeholder = "{case}";

/// Files by their full names, each with what it is for.
using Files = std::map<std::filesystem::path, std::string>;

std::filesystem::path full_name(std::filesystem::path const& file) {
  std::error_code error;
  std::filesystem::path full = std::filesystem::weakly_canonical(std::filesystem::absolute(file), error);
  return error ? std::filesystem::absolute(file).lexically_normal() : full;
}

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

void claim(Files& files, std::string const& file, std::string const& use, Node const& node,
           std::string const& path) {
  auto const [taken, is_free] = files.emplace(full_name(file), use);
  if (is_free) return;
  fail(node.at, path, "'" + file + "' is also " + taken->second + "; allowed: a file of its own");
}

std::filesystem::path read_report(Node const& node, std::string const& path, Files& files) {
  std::string const file = read_text_value(node, path);
  if (file.find_first_of("{}") != std::string::npos) {
    fail_found(node, path, "a file name without braces; all cases go to one file");
  }
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

  Files files;
  files.emplace(full_name(experiment.file), "the experiment itself");
  if (experiment.cases.front().tensors) {
    TensorFiles const& tensors = *experiment.cases.front().tensors;
    files.emplace(full_name(tensors.q), "problem.tensors.q");
    files.emplace(full_name(tensors.k), "problem.tensors.k");
    files.emplace(full_name(tensors.v), "problem.tensors.v");
  }
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
