// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"

#include <flashpad/error.hpp>

#include "html_report/page.hpp"
#include "html_report/png.hpp"
#include "report/files.hpp"

#include <fmt/format.h>

#include <memory>
#include <set>

namespace flashpad::app {

namespace {

struct ReportArguments {
  std::vector<std::string> results;
  std::string page = "report.html";
  std::string svg;
  std::string png;
};

namespace fs = std::filesystem;

struct Files {
  fs::path svg, png;  ///< empty where not asked for
};

Files files_of(ReportArguments const& arguments, html_report::Picture const& picture) {
  Files files;
  if (!arguments.svg.empty()) files.svg = fs::path(arguments.svg) / (picture.name + ".svg");
  if (!arguments.png.empty()) files.png = fs::path(arguments.png) / (picture.name + ".png");
  return files;
}

void write(Files const& files, html_report::Picture const& picture) {
  if (!files.svg.empty()) {
    report::write_file(files.svg, picture.svg);
    fmt::print("wrote {}\n", files.svg.string());
  }
  if (!files.png.empty()) {
    html_report::write_png(files.png, picture.svg);
    fmt::print("wrote {}\n", files.png.string());
  }
}

void require_own_page(ReportArguments const& arguments) {
  for (std::string const& name : arguments.results) {
    if (report::target_of(name) == report::target_of(arguments.page))
      throw Error(
          fmt::format("--output: '{}' is also one of the results; allowed: another file", arguments.page));
  }
}

void require_each_once(ReportArguments const& arguments) {
  std::set<fs::path> seen;
  for (std::string const& name : arguments.results) {
    if (!seen.insert(report::target_of(name)).second)
      throw Error(fmt::format("results: '{}' is named twice; allowed: each file once", name));
  }
}

int report_results(ReportArguments const& arguments) {
  require_each_once(arguments);
  std::vector<results::ResultFile> files;
  for (std::string const& name : arguments.results) files.push_back(results::read(name));
  std::vector<html_report::Picture> pictures;
  if (!arguments.svg.empty() || !arguments.png.empty()) pictures = html_report::pictures(files);

  // All that can be refused is, before anything is written.
  require_own_page(arguments);
  if (!arguments.png.empty()) html_report::require_converter();
  report::require_writable(arguments.page);
  for (html_report::Picture const& picture : pictures) {
    Files const targets = files_of(arguments, picture);
    if (!targets.svg.empty()) report::require_writable(targets.svg);
    if (!targets.png.empty()) report::require_writable(targets.png);
  }

  report::write_file(arguments.page, html_report::page(files));
  fmt::print("wrote {}\n", arguments.page);
  for (html_report::Picture const& picture : pictures) write(files_of(arguments, picture), picture);
  return success;
}

}  // namespace

void add_report(CLI::App& app, Invocation& invocation) {
  CLI::App& command = *app.add_subcommand(
      "report", "Make a page that shows results: roofline, lengths, tiles, errors, tables");
  auto const arguments = std::make_shared<ReportArguments>();
  command
      .add_option(
          "results", arguments->results,
          "JSON of flashpad run, bench, tune or profile, scripts/bench_host.py or scripts/gpu_peers.py")
      ->required()
      ->type_name("RESULTS.json");
  command.add_option("-o,--output", arguments->page, "Write the page here")
      ->capture_default_str()
      ->check(not_empty)
      ->type_name("FILE.html");
  command.add_option("--svg", arguments->svg, "Also write each figure as SVG into this folder")
      ->check(not_empty)
      ->type_name("DIR");
  command
      .add_option("--png", arguments->png,
                  "Also write each figure as PNG into this folder; needs rsvg-convert")
      ->check(not_empty)
      ->type_name("DIR");
  command.callback(
      [&invocation, arguments] { invocation.action = [arguments] { return report_results(*arguments); }; });
}

}  // namespace flashpad::app
