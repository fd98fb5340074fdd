// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command.hpp"

#include "kokkos_ext/arguments.hpp"
#include "kokkos_ext/blas_threads.hpp"
#include "measure/backend.hpp"
#include "measure/context.hpp"
#include "measure/machine.hpp"
#include "measure/parallel.hpp"
#include "report/table.hpp"

#include <flashpad/error.hpp>
#include <flashpad/tuning.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

namespace flashpad::app {

namespace {

void print_machine() {
  fmt::print("{}\n", measure::version_line());
  fmt::print("machine   {}, {} cores, last-level cache {}, {} free\n", measure::cpu_model(),
             measure::available_cores(), report::format_bytes(measure::last_level_cache()),
             report::format_bytes(measure::host_memory_free()));
  std::string const forced = measure::blas_forced();
  fmt::print("BLAS      {}{}\n", kokkos_ext::blas_name(), forced.empty() ? "" : ", forced by " + forced);
  std::string const cache = tuning_cache_file();
  fmt::print("tuning    {}\n", cache.empty() ? "off" : cache);
}

// 0 where the library has no product for it.
double matrix_peak(measure::Backend& backend) {
  if (!backend.device_memory_free()) return 0;
  try {
    return backend.peaks({DType::fp16, "mma"}).flops;
  } catch (Error const&) {
    return 0;
  }
}

void print_peaks(measure::Backend& backend) {
  double const fp32 = backend.peaks({DType::fp32}).flops;
  double const fp64 = backend.peaks({DType::fp64}).flops;
  double const bf16 = backend.device_memory_free() ? 0 : backend.peaks({DType::bf16, "bf16"}).flops;
  double const matrix = matrix_peak(backend);
  measure::KnownPeaks const known = backend.known_peaks();
  fmt::print("  measured peaks fp32 {:.4g} TFLOP/s, fp64 {:.4g} TFLOP/s{}\n", fp32 / 1e12, fp64 / 1e12,
             bf16 > 0     ? fmt::format(", pairs of bf16 {:.4g} TFLOP/s", bf16 / 1e12)
             : matrix > 0 ? fmt::format(", 16-bit matrices {:.4g} TFLOP/s", matrix / 1e12)
                          : "");
  fmt::print("                 memory: read {:.4g} GB/s, copy {:.4g} GB/s\n", known.read / 1e9,
             known.copy / 1e9);
}

void print_backend(measure::Backend& backend) {
  measure::BackendInfo const info = backend.info();
  fmt::print("\n{}{}\n", info.name, info.device.empty() ? "" : " on " + info.device);
  fmt::print("  concurrency    {}\n", info.concurrency);
  fmt::print("  engines        {}\n", fmt::join(info.engines, ", "));
  fmt::print("  team scratch   {} at level 0, {} at level 1\n", report::format_bytes(info.scratch_bytes[0]),
             report::format_bytes(info.scratch_bytes[1]));
  if (auto const free = backend.device_memory_free())
    fmt::print("  memory free    {}\n", report::format_bytes(*free));
  try {
    print_peaks(backend);
  } catch (std::exception const& error) {  // a small machine with a large cache
    fmt::print("  peaks          not measured: {}\n", error.what());
  }
}

nlohmann::ordered_json document(Invocation const& invocation, std::vector<std::string> const& names) {
  for (std::string const& name : names) {
    measure::Backend& backend = measure::backend(name);
    try {
      for (DType const dtype : {DType::fp32, DType::fp64}) static_cast<void>(backend.peaks({dtype}));
      static_cast<void>(backend.peaks({DType::bf16, "bf16"}));
      static_cast<void>(matrix_peak(backend));
    } catch (std::exception const&) {  // they stay unknown, and are null
    }
  }
  nlohmann::ordered_json json = measure::context(invocation.command_line, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    measure::BackendInfo const info = measure::backend(names[i]).info();
    json["backends"][i]["scratch_bytes"] = {info.scratch_bytes[0], info.scratch_bytes[1]};
  }
  return json;
}

}  // namespace

void add_info(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      *app.add_subcommand("info", "Show this build, machine and backends, and measure their peaks");
  auto const as_json = std::make_shared<bool>(false);
  command.add_flag("--json", *as_json, "Print one JSON object");
  command.callback([&invocation, as_json] {
    invocation.action = [&invocation, as_json] {
      kokkos_ext::KokkosGuard const kokkos(invocation.kokkos_flags);
      std::vector<std::string> const names = measure::available_backends();
      if (*as_json) {
        fmt::print("{}\n",
                   document(invocation, names).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
      } else {
        print_machine();
        for (std::string const& name : names) print_backend(measure::backend(name));
      }
      measure::release_backends();
      return static_cast<int>(success);
    };
  });
}

}  // namespace flashpad::app
