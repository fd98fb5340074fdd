// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuning/key.hpp"

#include <sys/utsname.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace flashpad::tuning {

std::int64_t bucket(std::int64_t n) {
  if (n <= 0) return 0;
  std::int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

std::string key_of(Place const& place, Shape const& shape, DType dtype, Mask const& mask, Kernel kernel,
                   std::string const& engine) {
  nlohmann::json json;
  json["device"] = place.device;
  json["driver"] = place.driver;
  json["backend"] = place.backend;
  json["threads"] = place.threads;
  json["kernel"] = name(kernel);
  json["engine"] = engine;
  json["dtype"] = name(dtype);
  json["head_dim"] = shape.head_dim;
  json["value_dim"] = kernel == Kernel::stats ? 0 : shape.value_dim;
  json["seq_q"] = bucket(shape.seq_q);
  json["seq_k"] = bucket(shape.seq_k);
  json["mask"] = to_string(mask);
  json["flashpad"] = place.version;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string host_device() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    std::size_t const colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

}  // namespace flashpad::tuning
