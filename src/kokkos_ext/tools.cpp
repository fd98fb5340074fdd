// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kokkos_ext/tools.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string_view>

namespace flashpad::kokkos_ext {

namespace {

namespace tools = Kokkos::Tools::Experimental;

// Callbacks are plain functions: what they count and whom they pass it on to is global.
int launches = 0;
tools::EventSet previous;

void on_parallel_for(char const* name, std::uint32_t device, std::uint64_t* id) {
  ++launches;
  if (previous.begin_parallel_for != nullptr) previous.begin_parallel_for(name, device, id);
}

void on_parallel_reduce(char const* name, std::uint32_t device, std::uint64_t* id) {
  ++launches;
  if (previous.begin_parallel_reduce != nullptr) previous.begin_parallel_reduce(name, device, id);
}

void on_parallel_scan(char const* name, std::uint32_t device, std::uint64_t* id) {
  ++launches;
  if (previous.begin_parallel_scan != nullptr) previous.begin_parallel_scan(name, device, id);
}

void on_region(char const* name) {
  if (std::string_view(name).starts_with("KokkosBlas::gemm[TPL")) ++launches;
  if (previous.push_region != nullptr) previous.push_region(name);
}

class Listening {
 public:
  Listening() {
    previous = tools::get_callbacks();
    launches = 0;
    tools::EventSet mine = previous;
    mine.begin_parallel_for = on_parallel_for;
    mine.begin_parallel_reduce = on_parallel_reduce;
    mine.begin_parallel_scan = on_parallel_scan;
    mine.push_region = on_region;
    tools::set_callbacks(mine);
  }
  Listening(Listening const&) = delete;
  Listening& operator=(Listening const&) = delete;
  ~Listening() { tools::set_callbacks(previous); }
};

}  // namespace

int count_launches(std::function<void()> const& work) {
  Listening const listening;
  work();
  return launches;
}

}  // namespace flashpad::kokkos_ext
