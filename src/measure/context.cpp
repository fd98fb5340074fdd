// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/context.hpp"

#include "kokkos_ext/blas_threads.hpp"
#include "measure/backend.hpp"
#include "measure/machine.hpp"
#include "measure/parallel.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <flashpad_build_info.hpp>

#include <cstdlib>
#include <ctime>
#include <optional>

namespace flashpad::measure {

namespace {

using Json = nlohmann::ordered_json;

Json environment(char const* variable) {
  char const* value = std::getenv(variable);
  return value == nullptr ? Json() : Json(value);
}

template <class T>
Json value_or_null(std::optional<T> const& value) {
  return value ? Json(*value) : Json();
}

Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(); }

Json describe(std::string const& name) {
  Backend& place = backend(name);
  BackendInfo const info = place.info();
  KnownPeaks const peaks = place.known_peaks();
  Json json;
  json["name"] = info.name;
  json["device"] = info.device.empty() ? Json() : Json(info.device);
  json["concurrency"] = info.concurrency;
  json["engines"] = info.engines;
  json["last_level_cache_bytes"] = place.last_level_cache();
  json["peak_flops_fp32"] = positive_or_null(peaks.flops_fp32);
  json["peak_flops_fp64"] = positive_or_null(peaks.flops_fp64);
  json["peak_flops_bf16"] = positive_or_null(peaks.flops_bf16);
  json["peak_flops_matrix"] = positive_or_null(peaks.flops_matrix);
  json["peak_bytes_per_s"] = positive_or_null(peaks.bandwidth());
  json["peak_read_bytes_per_s"] = positive_or_null(peaks.read);
  json["peak_copy_bytes_per_s"] = positive_or_null(peaks.copy);
  return json;
}

}  // namespace

std::string version_line() {
  return fmt::format("Flashpad {} (git {}, {}, Kokkos {})", build_info::version, build_info::git_revision,
                     build_info::compiler, build_info::kokkos_version);
}

std::string blas_forced() {
  std::string text;
  for (char const* variable : {"OPENBLAS_CORETYPE", "MKL_ENABLE_INSTRUCTIONS"}) {
    char const* value = std::getenv(variable);
    if (value == nullptr) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", variable, value);
  }
  return text;
}

Json context(std::vector<std::string> const& command_line, std::vector<std::string> const& backends) {
  Json json;
  json["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  json["command"] = fmt::format("{}", fmt::join(command_line, " "));
  json["flashpad_version"] = build_info::version;
  json["git_revision"] = build_info::git_revision;
  json["compiler"] = build_info::compiler;
  json["build_type"] = build_info::build_type;
  json["build_flags"] = build_info::build_flags;
  json["kokkos_version"] = build_info::kokkos_version;
  json["kokkos_backends"] = available_backends();
  json["cpu"] = cpu_model();
  json["cores"] = available_cores();
  json["cpu_quota"] = value_or_null(cpu_quota());
  json["cpu_mhz"] = value_or_null(cpu_mhz());
  json["cpu_governor"] = value_or_null(cpu_governor());
  json["last_level_cache_bytes"] = last_level_cache();
  json["memory_free_bytes"] = host_memory_free();
  json["omp_proc_bind"] = environment("OMP_PROC_BIND");
  json["omp_places"] = environment("OMP_PLACES");
  json["omp_num_threads"] = environment("OMP_NUM_THREADS");
  json["blas"] = kokkos_ext::blas_name();
  std::string const forced = blas_forced();
  json["blas_forced"] = forced.empty() ? Json() : Json(forced);
  json["blas_threads"] = value_or_null(kokkos_ext::blas_threads());
  json["backends"] = Json::array();
  for (std::string const& name : backends) json["backends"].push_back(describe(name));
  json["flops_rule"] =
      "2 (head_dim + value_dim) a visible pair of query and key (stats: 2 head_dim); hidden pairs count 0";
  json["bytes_rule"] =
      "bytes_model: arguments once; naive also 2 e_S + 2 e_P a pair; estimates, not measurements";
  return json;
}

}  // namespace flashpad::measure
