// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "result_file/fields.hpp"

#include <initializer_list>
#include <map>
#include <string>

namespace flashpad::results {

/// What a file tells of a problem and of how it was computed, under the names of docs/reports.md; what it
/// does not tell is absent.
using Facts = std::map<std::string, std::string>;

/// Adds the named values of an object, where it has them.
void take_facts(Fields const& from, std::initializer_list<char const*> names, Facts& to);

/// A problem and a method in short, as case names have them: "b32_h16_n512k4096_d64_bf16_causal_openmp_t2".
/// Facts that are absent, and the one left out, have no part in it.
std::string short_name(Facts const& facts, std::string const& leave_out = "");

}  // namespace flashpad::results
