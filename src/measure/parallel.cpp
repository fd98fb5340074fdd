// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/parallel.hpp"

#include "measure/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace flashpad::measure {

namespace {

// An OpenMP runtime that binds its threads binds the initial one too, and new threads inherit its single
// core. What all threads of the process may use together is what the process was given.
cpu_set_t affinity_of_process() {
  cpu_set_t all;
  CPU_ZERO(&all);
  std::error_code ignored;
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    cpu_set_t one;
    pid_t const id = std::atoi(task.path().filename().c_str());
    if (sched_getaffinity(id, sizeof(one), &one) == 0) CPU_OR(&all, &all, &one);
  }
  return all;
}

}  // namespace

std::vector<int> own_processors() {
  cpu_set_t const affinity = affinity_of_process();
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &affinity)) processors.push_back(i);
  }
  return processors;
}

int available_cores() {
  cpu_set_t const affinity = affinity_of_process();
  int cores = CPU_COUNT(&affinity);
  if (cores == 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  if (auto const quota = cpu_quota()) cores = std::min(cores, static_cast<int>(std::ceil(*quota)));
  return std::max(cores, 1);
}

void parallel_ranges(std::int64_t count, std::int64_t piece,
                     std::function<void(std::int64_t, std::int64_t)> const& body) {
  std::int64_t const pieces = (count + piece - 1) / piece;
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto const work = [&] {
    for (std::int64_t p = next++; p < pieces; p = next++) {
      try {
        body(p * piece, std::min(count, (p + 1) * piece));
      } catch (...) {
        std::lock_guard const hold(failure_lock);
        if (!failure) failure = std::current_exception();
        next = pieces;
      }
    }
  };
  cpu_set_t const affinity = affinity_of_process();
  std::vector<std::thread> threads;
  for (std::int64_t t = 1; t < std::min<std::int64_t>(available_cores(), pieces); ++t) {
    threads.emplace_back([&] {
      if (CPU_COUNT(&affinity) > 0) sched_setaffinity(0, sizeof(affinity), &affinity);
      work();
    });
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace flashpad::measure
