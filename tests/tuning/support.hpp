// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tuning/cache.hpp"
#include "tuning/key.hpp"

#include <gtest/gtest.h>

#include <stdlib.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace flashpad::tuning {

/// A folder of the test's own, and a name for a cache in it.
class WithCache : public ::testing::Test {
 protected:
  WithCache() {
    std::string name = (std::filesystem::temp_directory_path() / "flashpad-tuning-XXXXXX").string();
    m_folder = mkdtemp(name.data());
    m_cache = (m_folder / "tuning.json").string();
  }
  ~WithCache() override { std::filesystem::remove_all(m_folder); }

  void write(std::string const& text) const { std::ofstream(m_cache, std::ios::binary) << text; }
  [[nodiscard]] std::string read() const {
    std::ostringstream text;
    text << std::ifstream(m_cache).rdbuf();
    return text.str();
  }

  std::filesystem::path m_folder;
  std::string m_cache;
};

inline std::string key_for(std::int64_t n, std::string const& version = "1.2.3") {
  Place const place = {"some processor", "", "openmp", 2, version};
  Shape const shape = {
      .batch = 1, .heads = 8, .kv_heads = 8, .seq_q = n, .seq_k = n, .head_dim = 64, .value_dim = 64};
  return key_of(place, shape, DType::fp32, Mask::causal(), Kernel::fused, "portable-v3");
}

inline Entry entry_for(std::string const& key) {
  return {.key = key,
          .winner = {{256, 64}, 1, 1},
          .median_s = 1e-3,
          .max_abs_err = 1e-7,
          .case_name = "b1_h8_n64_d64_fp32_causal",
          .date = "2026-11-30T10:00:00Z"};
}

}  // namespace flashpad::tuning
