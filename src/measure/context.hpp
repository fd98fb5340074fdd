// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace flashpad::measure {

/// "Flashpad 0.1.0 (git 1234abcd, GNU 12.2.0, Kokkos 3.4.1)".
std::string version_line();

/// The core or instructions that the environment makes the BLAS use ("OPENBLAS_CORETYPE=Haswell"); else
/// empty.
std::string blas_forced();

/// What a result depends on beyond its case: the program, this machine, the libraries, and the backends
/// named, with the peaks that were measured on them (those measured so far: asking measures nothing).
/// Unreadable facts are null.
nlohmann::ordered_json context(std::vector<std::string> const& command_line,
                               std::vector<std::string> const& backends);

}  // namespace flashpad::measure
