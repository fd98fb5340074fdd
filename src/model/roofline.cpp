// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model/roofline.hpp"

#include <algorithm>

namespace flashpad::model {

Roof roof(double flops, double bytes, Peaks const& peaks) {
  Roof result;
  result.intensity = flops / bytes;
  double const by_bandwidth = result.intensity * peaks.bandwidth;
  result.attainable = std::min(peaks.flops, by_bandwidth);
  result.compute_bound = peaks.flops <= by_bandwidth;
  return result;
}

std::string_view flag(double flops, double bytes, double seconds, double working_set, double last_level_cache,
                      Peaks const& peaks) {
  if (flops > peaks.flops * seconds) return "suspect";
  if (bytes > peaks.bandwidth * seconds)
    return working_set <= last_level_cache ? "cache-resident" : "suspect";
  return "";
}

}  // namespace flashpad::model
