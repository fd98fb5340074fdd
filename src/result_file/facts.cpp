// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result_file/facts.hpp"

namespace flashpad::results {

void take_facts(Fields const& from, std::initializer_list<char const*> names, Facts& to) {
  for (char const* name : names) {
    if (from.has(name)) to[name] = from.word(name);
  }
}

std::string short_name(Facts const& facts, std::string const& leave_out) {
  struct Part {
    char const* fact;
    char const* prefix;
    char const* unless_same_as = "";
  };
  constexpr Part parts[] = {{"batch", "_b"},
                            {"heads", "_h"},
                            {"kv_heads", "kv", "heads"},
                            {"seq_q", "_n"},
                            {"seq_k", "k", "seq_q"},
                            {"head_dim", "_d"},
                            {"value_dim", "v", "head_dim"},
                            {"dtype", "_"},
                            {"mask", "_"},
                            {"layout", "_"},
                            {"kernel", "_"},
                            {"backend", "_"},
                            {"threads", "_threads"}};
  std::string name;
  for (Part const& part : parts) {
    auto const found = facts.find(part.fact);
    if (found == facts.end() || part.fact == leave_out) continue;
    auto const other = facts.find(part.unless_same_as);
    if (other != facts.end() && other->second == found->second) continue;
    name += part.prefix + found->second;
  }
  return name.starts_with('_') ? name.substr(1) : name;
}

}  // namespace flashpad::results
