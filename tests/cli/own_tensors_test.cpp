// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Experiments on .npy files whose numbers no kernel can do anything with.
#include "process.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

namespace flashpad::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A .npy file of float64: (1, 1, 4, 16), all elements alike but the first.
std::string npy(double first, double others) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 4, 16), }";
  header.resize(117, ' ');
  header += '\n';
  std::string text = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  for (int i = 0; i < 64; ++i) {
    double const value = i == 0 ? first : others;
    text.append(reinterpret_cast<char const*>(&value), sizeof(value));
  }
  return text;
}

class OwnTensors : public Cli {
 protected:
  OwnTensors() {
    write("own.yaml",
          "problem: {tensors: {q: q.npy, k: k.npy, v: k.npy}, dtype: [fp32, fp16]}\n"
          "kernels: [naive, fused, stats]\nmemory_limit: 64MiB\n"
          "timing: {warmup: 0, repetitions: 1, cache: warm}\noutput: {json: own.json}\n");
    write("k.npy", npy(0.25, 0.5));
  }
};

TEST_F(OwnTensors, WhatATypeCannotHoldIsRefusedBeforeAnythingRuns) {
  write("q.npy", npy(60000, 70000));
  for (char const* command : {"run", "check", "bench", "profile"}) {
    Finished const finished = flashpad({command, "own.yaml"});
    EXPECT_EQ(finished.code, 2) << command;
    expect_one_error_line(finished);
    EXPECT_THAT(finished.err, HasSubstr("q.npy: element (0, 0, 0, 1) is 70000, which becomes infinity in "
                                        "fp16; allowed: finite numbers up to 65504"));
    EXPECT_THAT(finished.out, IsEmpty());
  }
  EXPECT_FALSE(exists("own.json"));
  EXPECT_EQ(flashpad({"run", "own.yaml", "--filter", "fp32"}).code, 0) << "that type holds it";
}

TEST_F(OwnTensors, NanIsSaidAndAloneVerifiesNothing) {
  write("q.npy", npy(NAN, 0.5));
  EXPECT_EQ(flashpad({"run", "own.yaml"}).code, 0);
  for (auto const& row : json("own.json")["rows"]) {
    EXPECT_EQ(row["status"], "ok") << row;
    EXPECT_THAT(row["reason"].get<std::string>(),
                HasSubstr(row["kernel"] == "stats" ? "1 of 4 values of LSE in the reference are not finite"
                                                   : "16 of 64 values of O in the reference are not finite"));
  }
  write("q.npy", npy(NAN, NAN));
  EXPECT_EQ(flashpad({"run", "own.yaml"}).code, 1);
  for (auto const& row : json("own.json")["rows"]) {
    EXPECT_EQ(row["status"], "failed") << row;
    EXPECT_EQ(row["verified"], false);
    EXPECT_TRUE(row["max_abs_err"].is_null());
    EXPECT_TRUE(row["tolerance"].is_null());
    EXPECT_TRUE(row["lse_max_err"].is_null());
    EXPECT_THAT(row["reason"].get<std::string>(), ::testing::StartsWith("nothing was verified; "));
  }
}

}  // namespace
}  // namespace flashpad::cli
