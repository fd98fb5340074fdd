// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/types.hpp>

#include "kernels/engines/host_table.hpp"

#include <string>
#include <vector>

namespace flashpad::engines {

/// Names of the host's engines that this processor can run and that multiply this element type, best first;
/// `portable` is the best of the portable ones.
std::vector<std::string> host_engine_names(DType dtype);

/// The table of an engine for a storage type: T is double for fp64 and float for all others. An empty name is
/// the best engine for the type. Throws Error on a name that is not known, or known but not for this
/// processor or this type; the message lists what is available.
template <class T>
HostTable<T> host_table(std::string const& engine, DType dtype);

}  // namespace flashpad::engines
